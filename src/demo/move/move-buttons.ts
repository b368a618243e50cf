import { RuntimeError } from '../../core/errors.ts';
import type { DemoContext } from '../demo-context.ts';
import { byId } from '../element.ts';
import type { Destination, Movable, Parcel } from './parcel.ts';
import { type MoveMessage, TAB_CHANNEL, TAB_FIELD } from './tab-messages.ts';

/** A tab that has not said by then that it goes on has not. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 500;

/** Opens this page in another tab, which goes on with a parcel. Rejects with RuntimeError where no tab opens or none goes on. */
async function moveToTab(section: string, packing: Promise<Parcel>): Promise<true> {
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

/** A way to another page. Resolves to whether all goes on there. */
type Way = (section: string, packing: Promise<Parcel>) => Promise<boolean>;

/** Buttons that move a section, `PREFIX-move` to another tab and `PREFIX-send` to another device; what the latter needs is loaded then. */
export function setUpMoves(prefix: string, movable: Movable, context: DemoContext): void {
  const start = async (to: Destination, way: Way): Promise<void> => {
    const { section } = movable;
    // Held at once, however long the way is.
    const packing = movable.pack();
    const packed = packing.catch(() => undefined);
    const hasMoved = await way(section, packing).catch((error: unknown) => context.fail(error));
    await packed;
    if (hasMoved !== true) return movable.goOn();
    await movable.leave(to);
  };
  const listen = (id: string, to: Destination, way: Way): void =>
    byId(`${prefix}-${id}`, HTMLButtonElement).addEventListener('click', () => {
      start(to, way).catch((error: unknown) => context.fail(error));
    });
  listen('move', 'another tab', moveToTab);
  listen('send', 'another device', async (section, packing) => {
    const { moveToDevice } = await import('./move-to-device.ts');
    return moveToDevice(section, await packing);
  });
}

/** Says where a section goes on, and that it ends here. */
export function describeLeft(what: string, to: Destination): string {
  const place = to === 'another tab' ? 'in the other tab' : 'on the other device';
  return `${what} continues ${place}. Here you may begin anew.`;
}

/** Buttons by their ids: those of a program that is not loaded, is held or has left do nothing. */
export function enable(ids: readonly string[], areEnabled: boolean): void {
  for (const id of ids) byId(id, HTMLButtonElement).disabled = !areEnabled;
}
