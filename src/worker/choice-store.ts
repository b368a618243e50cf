import type { Device, TunedChoice } from '../device/device.ts';

/** Also looked for by `createDevice`, so that who never tuned loads nothing of this file. */
const DATABASE = 'weft-tuning';
const STORE = 'choices';

/** So many plans are remembered for an adapter; the ones tuned first go first. */
const MOST_CHOICES = 4096;

/** Takes up what was measured on such a device earlier, in this browser. */
export async function restoreChoices(device: Device): Promise<void> {
  const database = await open();
  try {
    const store = database.transaction(STORE).objectStore(STORE);
    const choices = toChoices(await settled(store.get(keyOf(device))));
    if (choices.length > 0) await device.useChoices?.(choices);
  } finally {
    database.close();
  }
}

/** Stores what a device was tuned to, beside what others stored meanwhile. */
export async function saveChoices(device: Device): Promise<void> {
  const database = await open();
  try {
    const store = database.transaction(STORE, 'readwrite').objectStore(STORE);
    const key = keyOf(device);
    const known = toChoices(await settled(store.get(key)));
    await settled(store.put(mergeChoices(known, device.tunedChoices?.() ?? []), key));
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
function keyOf({ info }: Device): string {
  const { vendor, architecture, name, adapterClass } = info;
  return [vendor, architecture, name, adapterClass, navigator.userAgent].join('|');
}

/** What a store gives, whoever wrote it. */
function toChoices(stored: unknown): readonly TunedChoice[] {
  return Array.isArray(stored) ? stored.filter(isChoice) : [];
}

function isChoice(item: unknown): item is TunedChoice {
  if (typeof item !== 'object' || item === null) return false;
  const choices: unknown = Reflect.get(item, 'choices');
  if (typeof choices !== 'object' || choices === null) return false;
  const areNames = Object.values(choices).every((name) => typeof name === 'string');
  return areNames && typeof Reflect.get(item, 'plan') === 'string';
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener('upgradeneeded', () => void request.result.createObjectStore(STORE));
  return settled(request);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}
