import { RuntimeError } from '../../core/errors.ts';
import type { Parcel } from './parcel.ts';
import { type MoveMessage, TAB_CHANNEL, TAB_FIELD } from './tab-messages.ts';

/** A tab that has not said by then that it goes on has not. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 500;

/** Opens this page in another tab, which goes on with a parcel. Rejects with RuntimeError where no tab opens or none goes on. */
export async function moveToTab(section: string, packing: Promise<Parcel>): Promise<true> {
  const move = crypto.randomUUID();
  const channel = new BroadcastChannel(TAB_CHANNEL);
  let timer: ReturnType<typeof setInterval> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const answers: Readonly<Record<MoveMessage['kind'], () => void>> = {
        ready: () => {
          const send = (parcel: Parcel): void =>
            channel.postMessage({ kind: 'parcel', move, parcel } satisfies MoveMessage);
          packing.then(send, reject);
        },
        parcel: () => undefined,
        arrived: resolve,
        refused: () => reject(lost('one that could not')),
      };
      channel.addEventListener('message', ({ data }: MessageEvent<MoveMessage>) => {
        if (data.move === move) answers[data.kind]();
      });
      const fragment = `#${section}&${TAB_FIELD}=${move}`;
      const opened = window.open(`${location.pathname}${location.search}${fragment}`, '_blank');
      const givesUpAt = performance.now() + PATIENCE_MS;
      timer = setInterval(() => {
        if (opened?.closed !== false) reject(lost('none, or one that was closed'));
        else if (performance.now() > givesUpAt) reject(lost('no answer'));
      }, LOOK_MS);
    });
  } finally {
    clearInterval(timer);
    channel.close();
  }
  return true;
}

function lost(got: string): RuntimeError {
  return new RuntimeError({
    where: 'the other tab',
    got,
    expected: 'one that goes on',
    remedy: 'Allow this page to open tabs, and try again.',
  });
}
