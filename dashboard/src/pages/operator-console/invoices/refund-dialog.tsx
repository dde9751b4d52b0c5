import { useState } from 'react';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { Field } from '../../../components/field.tsx';
import { toast } from '../../../components/toast.tsx';
import { formatMoney } from '../../../lib/format.ts';
import { type Invoice, refund, useInvoicesChanged } from './queries.ts';

interface Props {
  readonly invoice: Invoice;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Amounts have at most 3 decimals, and differences of doubles more. */
const rounded = (value: number) => Math.round(value * 1_000) / 1_000;

/** When the event of the payment processor has usually arrived. */
const PROCESSED_MS = 4_000;

/** Refunds an invoice, or a part of it, after the amount was typed again. */
export function RefundDialog({ invoice, open, onClose }: Props) {
  const { currency } = invoice;
  const rest = rounded(invoice.amount - invoice.refunded);
  const [text, setText] = useState(String(rest));
  const changed = useInvoicesChanged();
  const amount = Number(text);
  const isValid = text !== '' && amount > 0 && amount <= rest;
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title="Refund this invoice?"
      description={
        'The payment processor pays the amount back. When it has, the service revokes what was bought: a plan once ' +
        'its period is fully refunded, and the same share of a pack. This cannot be undone.'
      }
      action={isValid ? `Refund ${formatMoney(amount, currency)}` : 'Refund'}
      {...(isValid && { typed: `${text} ${currency}` })}
      isDisabled={!isValid}
      onConfirm={async () => {
        await refund(invoice.invoice_id, amount === rest ? undefined : amount);
        await changed();
        setTimeout(() => void changed(), PROCESSED_MS);
        toast(`${formatMoney(amount, currency)} are being refunded. The invoice shows it when it is done.`);
      }}
    >
      <Field
        label={`Amount in ${currency}`}
        type="number"
        inputMode="decimal"
        min={0}
        max={rest}
        step="any"
        required
        value={text}
        error={isValid ? undefined : `Enter an amount up to ${formatMoney(rest, currency)}.`}
        hint={`${formatMoney(rest, currency)} can be refunded.`}
        onChange={({ target }) => setText(target.value)}
      />
    </ConfirmDialog>
  );
}
