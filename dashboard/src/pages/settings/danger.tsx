import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { type Application, deleteApplication } from './queries.ts';

/** The end of an application. */
export function Danger({ application }: { readonly application: Application }) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  return (
    <Card
      title="Delete the application"
      description="Its users, keys, files and statistics are deleted, too."
    >
      <div>
        <Button look="danger" onClick={() => setOpen(true)}>
          Delete the application
        </Button>
      </div>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={`Delete ${application.name}?`}
        description="Programs that use it stop working at once. This cannot be undone."
        action="Delete"
        typed={application.name}
        onConfirm={async () => {
          await deleteApplication(application.app_id);
          await navigate({ to: '/' });
          client.removeQueries({ queryKey: ['application', application.app_id] });
          await client.invalidateQueries({ queryKey: ['applications'] });
          toast(`${application.name} deleted.`);
        }}
      />
    </Card>
  );
}
