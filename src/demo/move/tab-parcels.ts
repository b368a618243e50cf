import { RuntimeError } from '../../core/errors.ts';
import type { Arrival, GiveOptions, Parcel, WayBack } from './parcel.ts';

/** All tabs of this site hear it; nothing leaves the browser. */
const CHANNEL = 'weft-moves';
/** The field of a fragment that says which move a tab waits for. */
const FIELD = 'arrives';
/** A tab that has not said by then that it goes on has not. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 500;
/** A tab that has not handed over by then does not. */
const ARRIVAL_MS = 30_000;

/** Messages of a move, which its number tells from others. */
type MoveMessage =
  | { readonly kind: 'ready' | 'refused'; readonly move: string }
  | { readonly kind: 'arrived'; readonly move: string; readonly back: string }
  | { readonly kind: 'parcel'; readonly move: string; readonly parcel: Parcel };

/** Opens this page in another tab, which goes on with a parcel. Resolves to the way back. Rejects with RuntimeError where no tab does. */
export async function moveToTab(section: string, packing: Promise<Parcel>): Promise<string> {
  const move = crypto.randomUUID();
  const patience = new AbortController();
  let got = 'one that could not';
  const end = (reason: string): void => {
    got = reason;
    patience.abort();
  };
  const given = give(move, () => packing, {
    signal: patience.signal,
    onLost: () => patience.abort(),
  });
  const opened = window.open(`${location.pathname}${location.search}#${section}&${FIELD}=${move}`);
  const givesUpAt = performance.now() + PATIENCE_MS;
  const timer = setInterval(() => {
    if (opened?.closed !== false) end('none, or one that was closed');
    else if (performance.now() > givesUpAt) end('no answer');
  }, LOOK_MS);
  try {
    const back = await given;
    if (back !== undefined) return back;
  } finally {
    clearInterval(timer);
  }
  throw new RuntimeError({
    where: 'the other tab',
    got,
    expected: 'one that goes on',
    remedy: 'Allow this page to open tabs, and try again.',
  });
}

/** Gives a parcel to the tab that asks for this move. Resolves to the way back. */
async function give(
  move: string,
  pack: () => Promise<Parcel>,
  { signal, onLost }: GiveOptions,
): Promise<WayBack> {
  const channel = new BroadcastChannel(CHANNEL);
  const tell = (message: MoveMessage): void => channel.postMessage(message);
  try {
    return await new Promise<WayBack>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
      channel.addEventListener('message', ({ data }: MessageEvent<MoveMessage>) => {
        if (data.move !== move) return;
        if (data.kind === 'arrived') resolve(`${FIELD}=${data.back}`);
        if (data.kind === 'refused') onLost();
        if (data.kind !== 'ready') return;
        pack().then((parcel) => tell({ kind: 'parcel', move, parcel }), reject);
      });
    });
  } finally {
    channel.close();
  }
}

/** Takes the program of the move that a fragment names. Rejects with RuntimeError where the other tab does not answer. */
export async function takeFromTab(fragment: string): Promise<Arrival> {
  const move = new URLSearchParams(fragment).get(FIELD) ?? '';
  const back = crypto.randomUUID();
  const channel = new BroadcastChannel(CHANNEL);
  const tell = (message: MoveMessage): void => channel.postMessage(message);
  const finish = (message: MoveMessage): void => {
    tell(message);
    channel.close();
  };
  const parcel = await new Promise<Parcel>((resolve, reject) => {
    const timer = setTimeout(() => {
      channel.close();
      reject(unanswered());
    }, ARRIVAL_MS);
    channel.addEventListener('message', ({ data }: MessageEvent<MoveMessage>) => {
      if (data.move !== move || data.kind !== 'parcel') return;
      clearTimeout(timer);
      resolve(data.parcel);
    });
    tell({ kind: 'ready', move });
  });
  return {
    ...parcel,
    from: 'another tab',
    confirm: async () => finish({ kind: 'arrived', move, back }),
    refuse: () => finish({ kind: 'refused', move }),
    giveBack: (pack, options) => give(back, pack, options),
  };
}

function unanswered(): RuntimeError {
  return new RuntimeError({
    where: 'the other tab',
    got: 'no answer',
    expected: 'what it hands over',
    remedy: 'Move it again from there; here all begins anew.',
  });
}
