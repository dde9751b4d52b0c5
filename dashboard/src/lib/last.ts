import { useState } from 'react';

/** The value, or else the last one: what moves away or waits keeps its content. */
export function useLast<Value>(value: Value | undefined): Value | undefined {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) setLast(value);
  return value ?? last;
}
