import { RuntimeError } from '../../core/errors.ts';
import { readFragment } from '../lend/lend-address.ts';
import type { Arrival } from './parcel.ts';
import { type MoveMessage, TAB_CHANNEL, TAB_FIELD } from './tab-messages.ts';

const PATIENCE_MS = 30_000;

/**
 * Takes the program that the fragment of the address names from another page. The fragment then
 * names the section only: a reload goes on with what this browser has stored, and nobody reads a
 * token in the address bar. Rejects where the other page does not answer.
 */
export async function takeArrival(section: string): Promise<Arrival> {
  const { hash } = location;
  history.replaceState(null, '', `#${section}`);
  const relay = readFragment(hash);
  if (relay === undefined) return fromTab(new URLSearchParams(hash).get(TAB_FIELD) ?? '');
  const { takeFromRelay } = await import('./take-from-relay.ts');
  return takeFromRelay(relay);
}

async function fromTab(move: string): Promise<Arrival> {
  const channel = new BroadcastChannel(TAB_CHANNEL);
  const tell = (kind: 'ready' | 'arrived' | 'refused'): void =>
    channel.postMessage({ kind, move } satisfies MoveMessage);
  const finish = (kind: 'arrived' | 'refused'): void => {
    tell(kind);
    channel.close();
  };
  return new Promise<Arrival>((resolve, reject) => {
    const timer = setTimeout(() => {
      channel.close();
      reject(unanswered());
    }, PATIENCE_MS);
    channel.addEventListener('message', ({ data }: MessageEvent<MoveMessage>) => {
      if (data.move !== move || data.kind !== 'parcel') return;
      clearTimeout(timer);
      const confirm = async (): Promise<void> => finish('arrived');
      resolve({ ...data.parcel, confirm, refuse: () => finish('refused') });
    });
    tell('ready');
  });
}

function unanswered(): RuntimeError {
  return new RuntimeError({
    where: 'the tab that opened this one',
    got: 'no answer',
    expected: 'what it hands over',
    remedy: 'Move it again from there; here all begins anew.',
  });
}
