import type { Value } from '../../runtime/values/value.ts';
import type { HostedSession } from '../host/hosted-session.ts';
import { draftsOf } from '../host/read-result.ts';
import type { WireValue } from '../protocol/wire-value.ts';

/** A value as the page holds it, its tensors as handles. Drops the reference to it. Rejects with UsageError for a function. */
export async function handOver({ machine, held }: HostedSession, value: Value): Promise<WireValue> {
  try {
    const [draft] = await draftsOf([value]);
    return draft?.finish((tensor) => held.hold(tensor)) ?? { kind: 'null' };
  } finally {
    machine.release(value);
  }
}
