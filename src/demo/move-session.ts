import { RuntimeError } from '../core/errors.ts';

/** All tabs of this site hear it; nothing leaves the browser. */
const CHANNEL = 'weft-moves';
/** The parameter of an address that says what the page waits for. */
const PARAMETER = 'arrives';
/** A tab that has not said by then that it goes on has not. */
const PATIENCE_MS = 30_000;

/** Messages of a move, which its number tells from others. */
type MoveMessage =
  | { readonly kind: 'ready' | 'arrived'; readonly move: string }
  | { readonly kind: 'snapshot'; readonly move: string; readonly bytes: Uint8Array };

/**
 * Opens this page in another tab, at a section, and hands it a snapshot, which is taken when that tab asks for it. Resolves when
 * it goes on there. Rejects with RuntimeError where no tab opens or none answers; whoever moves then goes on here.
 */
export async function moveToTab(
  section: string,
  takeSnapshot: () => Promise<Uint8Array>,
): Promise<void> {
  const move = crypto.randomUUID();
  const channel = new BroadcastChannel(CHANNEL);
  try {
    const arrived = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(lost('no answer')), PATIENCE_MS);
      channel.addEventListener('message', ({ data }: MessageEvent<MoveMessage>) => {
        if (data.move !== move) return;
        if (data.kind === 'ready') {
          takeSnapshot().then((bytes) => post(channel, { kind: 'snapshot', move, bytes }), reject);
        }
        if (data.kind !== 'arrived') return;
        clearTimeout(timer);
        resolve();
      });
    });
    const address = new URL(location.href);
    address.searchParams.set(PARAMETER, move);
    address.hash = section;
    if (window.open(address, '_blank') === null) throw lost('a browser that opens no tab');
    await arrived;
  } finally {
    channel.close();
  }
}

/** A snapshot that another tab hands over. */
export interface Arrival {
  readonly bytes: Uint8Array;
  /** Tells the other tab that it goes on here. */
  confirm(): void;
}

/** What was moved to this tab, once; undefined for one that was opened in another way, or whose mover does not answer. */
export async function arrival(): Promise<Arrival | undefined> {
  const address = new URL(location.href);
  const move = address.searchParams.get(PARAMETER);
  if (move === null) return undefined;
  // A reload goes on with what this tab has stored.
  address.searchParams.delete(PARAMETER);
  history.replaceState(null, '', address);
  const channel = new BroadcastChannel(CHANNEL);
  const bytes = await new Promise<Uint8Array | undefined>((resolve) => {
    setTimeout(() => resolve(undefined), PATIENCE_MS);
    channel.addEventListener('message', ({ data }: MessageEvent<MoveMessage>) => {
      if (data.move === move && data.kind === 'snapshot') resolve(data.bytes);
    });
    post(channel, { kind: 'ready', move });
  });
  const confirm = (): void => {
    post(channel, { kind: 'arrived', move });
    channel.close();
  };
  return bytes && { bytes, confirm };
}

function post(channel: BroadcastChannel, message: MoveMessage): void {
  channel.postMessage(message);
}

function lost(got: string): RuntimeError {
  return new RuntimeError({
    where: 'the other tab',
    got,
    expected: 'one that goes on',
    remedy: 'Allow this page to open tabs, and try again.',
  });
}
