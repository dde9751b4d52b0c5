import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { BASE } from '../../api/base.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { Tabs } from '../../components/tabs.tsx';
import styles from './connect.module.css';
import { unusedKeyQuery } from './queries.ts';
import { samplesOf } from './samples.ts';

/** Stands for a key that the reader puts in. */
const NO_KEY = 'YOUR_LICENSE_KEY';
/** A key that is the same in every language without escapes. Imported keys can be any text. */
const PLAIN = /^[\w-]+$/;

/** The first login of a program, ready to run in several languages. */
export default function Connect({ appId }: { readonly appId: string }) {
  const [language, setLanguage] = useState('curl');
  const found = useQuery(unusedKeyQuery(appId)).data?.data[0]?.license_key;
  const licenseKey = found !== undefined && PLAIN.test(found) ? found : NO_KEY;
  const samples = samplesOf({ url: location.origin + BASE, appId, licenseKey });
  return (
    <div className={styles.connect}>
      <p>
        Replace sk_YOUR_SECRET with the application's secret, which you copied when you created it. If you no
        longer have it,{' '}
        <Link to="/apps/$appId/settings" params={{ appId }}>
          rotate it in the settings
        </Link>
        .{' '}
        {licenseKey === NO_KEY ? (
          <>
            You also need a license key:{' '}
            <Link to="/apps/$appId/licenses" params={{ appId }} search={{ create: 'yes' }}>
              create one
            </Link>
            .
          </>
        ) : (
          'The license key is one of your unused keys.'
        )}
      </p>
      <Tabs
        label="Languages"
        current={language}
        onChange={setLanguage}
        tabs={samples.map(({ id, label, source, run }) => ({
          id,
          label,
          content: (
            <div className={styles.sample}>
              <CodeBlock text={source} what={`example in ${label}`} />
              {run !== undefined && <CodeBlock text={run} what="command that runs it" />}
            </div>
          ),
        }))}
      />
      <p>
        The <a href={`${BASE}/guides/client-programs`}>guide to client programs</a> has clients to copy, which
        also verify the responses. The <a href={`${BASE}/docs`}>API reference</a> has every operation.
      </p>
    </div>
  );
}
