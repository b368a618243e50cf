import { untilAborted } from '../../core/async/until-aborted.ts';
import type { Device, TunedChoice } from '../../device/device.ts';

/** Also looked for by `createDevice`, so that who never tuned loads nothing of this file. */
const DATABASE = 'weft-tuning';
const STORE = 'choices';

/** So many plans are remembered for an adapter; the ones tuned first go first. */
const MOST_CHOICES = 4096;

/** No device waits longer for what is stored. */
const PATIENCE_MS = 1000;

/** Takes up what was measured on such a device earlier, in this browser. Rejects when nothing can be read. */
export async function restoreChoices(device: Device): Promise<void> {
  const choices = await untilAborted(readChoices(device), AbortSignal.timeout(PATIENCE_MS));
  if (choices.length > 0) await device.tuning?.use(choices);
}

async function readChoices(device: Device): Promise<readonly TunedChoice[]> {
  return toChoices(await readEntry(keyOf(device)));
}

/** Stores what a device was tuned to, beside what other tabs stored meanwhile. Rejects when it cannot. */
export async function saveChoices(device: Device): Promise<void> {
  await changeEntry(keyOf(device), (stored) =>
    mergeChoices(toChoices(stored), device.tuning?.choices() ?? []),
  );
}

/** The entry of a key; undefined where nothing is stored. Rejects when nothing can be read. */
export async function readEntry(key: string): Promise<unknown> {
  const database = await open();
  try {
    return await settled(database.transaction(STORE).objectStore(STORE).get(key));
  } finally {
    database.close();
  }
}

/** Stores what `change` makes of an entry, with no other change in between. Rejects when it cannot. */
export async function changeEntry(
  key: string,
  change: (stored: unknown) => unknown,
): Promise<void> {
  const database = await open();
  try {
    const transaction = database.transaction(STORE, 'readwrite');
    const store = transaction.objectStore(STORE);
    store.put(change(await settled(store.get(key))), key);
    // An entry may still be refused for want of space until the transaction completes.
    await completed(transaction);
  } finally {
    database.close();
  }
}

/** One entry for each plan, those that came last at the end. */
export function mergeChoices(
  known: readonly TunedChoice[],
  added: readonly TunedChoice[],
): readonly TunedChoice[] {
  const all = new Map<string, TunedChoice>();
  for (const choice of [...known, ...added]) {
    all.delete(choice.plan);
    all.set(choice.plan, choice);
  }
  return [...all.values()].slice(-MOST_CHOICES);
}

/** A driver or a browser that changes may change what is fast. */
export function keyOf({ info }: Pick<Device, 'info'>): string {
  const { vendor, architecture, name, adapterClass } = info;
  return [vendor, architecture, name, adapterClass, navigator.userAgent].join('|');
}

/** The content of a store, whoever wrote it. */
export function toChoices(stored: unknown): readonly TunedChoice[] {
  return Array.isArray(stored) ? stored.filter(isChoice) : [];
}

function isChoice(item: unknown): item is TunedChoice {
  if (typeof item !== 'object' || item === null) return false;
  const [plan, choices, chosen, attempts] = ['plan', 'choices', 'chosen', 'attempts'].map(
    (name): unknown => Reflect.get(item, name),
  );
  return (
    typeof plan === 'string' &&
    typeof choices === 'object' &&
    choices !== null &&
    Object.values(choices).every((name) => typeof name === 'string') &&
    ['string', 'undefined'].includes(typeof chosen) &&
    ['number', 'undefined'].includes(typeof attempts)
  );
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener('upgradeneeded', () => void request.result.createObjectStore(STORE));
  return settled(request);
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(transaction.error ?? new Error('IndexedDB failed'));
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', fail);
    transaction.addEventListener('error', fail);
  });
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}
