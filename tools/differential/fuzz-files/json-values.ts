import type { Chance } from './chance.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Values at the ends of what readers take. */
const EDGES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1,
  0.5,
  2,
  7,
  1000,
  2 ** 31,
  2 ** 53,
  1e21,
  -1e300,
  '',
  'a',
  ' ',
  '\ud800',
  '😀é\u0000',
  '__proto__',
  'constructor',
  '#',
  'x'.repeat(300),
  [],
  {},
  [[]],
  [null],
];
const LETTERS = Array.from('ab{}[]()<>|*+?.\\^$#%"\'-:/ 019é日\n_=~');
const DEEP = 40;
const MANY = 30;

/** Changes values of JSON: parts are dropped, doubled, moved, and taken from other values. */
export class JsonMutator {
  readonly #byKey = new Map<string, Json[]>();
  readonly #all: Json[] = [];
  readonly #keys: readonly string[];

  /** @param keys Keys that readers know beside those of the values. */
  constructor(values: readonly Json[], keys: readonly string[] = []) {
    for (const value of values) this.#collect(value, '');
    this.#keys = [...this.#byKey.keys(), ...keys];
  }

  /** Another value with up to so many changes. */
  mutate(value: Json, chance: Chance, most = 3): Json {
    const holder = { value: structuredClone(value) };
    for (let changes = chance.often(0.6) ? 1 : 1 + chance.below(most); changes > 0; changes--) {
      this.#change(holder, chance);
    }
    return holder.value;
  }

  #collect(value: Json, key: string): void {
    const known = this.#byKey.get(key);
    // Of a vocabulary some entries are enough.
    if (known === undefined) this.#byKey.set(key, [value]);
    else if (known.length < 100) known.push(value);
    if (this.#all.length < 20_000) this.#all.push(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, part] of Object.entries(value)) {
      this.#collect(part, Array.isArray(value) ? `${key}[]` : name);
    }
  }

  /** Walks down to some part, and changes it in what holds it. */
  #change(root: { value: Json }, chance: Chance): void {
    let holder: { [key: string]: Json } | Json[] = root;
    let key = 'value';
    let name = '';
    while (!chance.often(0.25)) {
      const value: Json = (holder as { [key: string]: Json })[key] ?? null;
      if (typeof value !== 'object' || value === null) break;
      const keys = Object.keys(value);
      if (keys.length === 0) break;
      holder = value;
      key = chance.pick(keys);
      name = Array.isArray(value) ? `${name}[]` : key;
    }
    const parts = holder as { [key: string]: Json };
    const value = parts[key] ?? null;
    switch (chance.below(10)) {
      case 0:
        if (Array.isArray(holder)) holder.splice(Number(key), 1);
        else if (holder !== root) delete holder[key];
        return;
      case 1:
        parts[key] = structuredClone(chance.pick(EDGES));
        return;
      case 2:
      case 3:
        parts[key] = structuredClone(chance.pick(this.#byKey.get(name) ?? [value]));
        return;
      case 4:
        parts[key] = structuredClone(chance.pick(this.#all));
        return;
      case 5:
        this.#double(holder, key, chance);
        return;
      case 6:
        parts[key] = this.#wrapped(value, chance);
        return;
      case 7:
        if (Array.isArray(holder) || holder === root) return;
        delete holder[key];
        set(holder, chance.pick(this.#keys), value);
        return;
      default:
        parts[key] = changed(value, chance);
    }
  }

  #double(holder: { [key: string]: Json } | Json[], key: string, chance: Chance): void {
    if (Array.isArray(holder)) {
      const count = chance.often(0.8) ? 1 : MANY;
      const part = holder[Number(key)] ?? null;
      for (let i = 0; i < count; i++) holder.splice(Number(key), 0, structuredClone(part));
    } else {
      set(holder, chance.pick(this.#keys), structuredClone(chance.pick(this.#all)));
    }
  }

  #wrapped(value: Json, chance: Chance): Json {
    let wrapped = value;
    const key = chance.pick(this.#keys);
    const isList = chance.often(0.5);
    for (let depth = chance.often(0.8) ? 1 : DEEP; depth > 0; depth--) {
      wrapped = isList ? [wrapped] : { [key]: wrapped };
    }
    return wrapped;
  }
}

/** Also for the name `__proto__`. */
function set(holder: { [key: string]: Json }, key: string, value: Json): void {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

function changed(value: Json, chance: Chance): Json {
  if (typeof value === 'number')
    return chance.pick([value + 1, value - 1, -value, value * 1000, value / 3]);
  if (typeof value === 'string') return changedText(value, chance);
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return chance.often(0.5) ? value.toReversed() : [...value, ...value];
  return value;
}

/** A text with letters that are dropped, doubled and put in. */
export function changedText(
  text: string,
  chance: Chance,
  parts: readonly string[] = LETTERS,
): string {
  const at = chance.below(text.length + 1);
  const [before, behind] = [text.slice(0, at), text.slice(at)];
  switch (chance.below(4)) {
    case 0:
      return before + behind.slice(1 + chance.below(3));
    case 1:
      return before + chance.pick(parts) + behind;
    case 2:
      return before + chance.pick(parts) + behind.slice(1);
    default: {
      const from = chance.below(text.length + 1);
      return before + text.slice(from, from + 1 + chance.below(12)) + behind;
    }
  }
}

export const toBytes = (value: Json): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(JSON.stringify(value)));

export const fromBytes = (bytes: Uint8Array): Json =>
  JSON.parse(new TextDecoder().decode(bytes)) as Json;
