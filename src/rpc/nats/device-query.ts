import { ParseError } from '../../core/errors.ts';
import { shortList } from '../../core/short-list.ts';
import type { RemoteDevice } from '../device-service.ts';
import type { FleetDevice } from './fleet-device.ts';

type Facts = Pick<FleetDevice, 'name' | 'group' | 'connections' | 'calls'>;

/** The fields of a query; numbers are compared, texts are equal but for upper case. */
const FIELDS = {
  class: (_, { adapterClass }) => adapterClass,
  kind: (_, { kind }) => kind,
  vendor: (_, { vendor }) => vendor,
  architecture: (_, { architecture }) => architecture,
  adapter: (_, { name }) => name,
  name: ({ name }) => name,
  group: ({ group }) => group,
  memory: (_, { maxBufferByteLength }) => maxBufferByteLength,
  connections: ({ connections }) => connections,
  calls: ({ calls }) => calls,
} as const satisfies Record<string, (facts: Facts, device: RemoteDevice) => string | number>;

type Field = keyof typeof FIELDS;

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const NUMERIC: ReadonlySet<string> = new Set<Field>(['memory', 'connections', 'calls']);

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

const TERM = /(\w+)\s*(!=|<=|>=|=|<|>)\s*("[^"]*"|[^\s"=<>!][^\s"]*)(?=\s|$)/y;

/** Returns true if a device of a server with these facts fits the query. */
export type DeviceQuery = (facts: Facts, device: RemoteDevice) => boolean;

/**
 * Reads a query such as `class=software memory>=1GiB`: terms with blanks between them, all of which
 * have to hold. A value with blanks stands in double quotes; a text may end in `*`. Memory is the
 * largest buffer that the device gives. Throws ParseError.
 */
export function parseDeviceQuery(text: string): DeviceQuery {
  const terms: DeviceQuery[] = [];
  let place = skipBlanks(text, 0);
  while (place < text.length) {
    TERM.lastIndex = place;
    const [whole, field = '', operator = '', value = ''] = TERM.exec(text) ?? [];
    if (whole === undefined) throw notATerm(text, place);
    if (!isField(field)) throw unknownField(field, place);
    terms.push(readTerm(field, operator, { value, place }));
    place = skipBlanks(text, place + whole.length);
  }
  return (facts, device) => terms.every((holds) => holds(facts, device));
}

function readTerm(
  field: Field,
  operator: string,
  { value, place }: { readonly value: string; readonly place: number },
): DeviceQuery {
  const holds = COMPARISONS[operator] ?? (() => false);
  const read: (facts: Facts, device: RemoteDevice) => string | number = FIELDS[field];
  const wanted = value.replaceAll('"', '').toLowerCase();
  if (NUMERIC.has(field)) {
    const bound = readNumber(wanted, { field, place });
    return (facts, device) => holds(Number(read(facts, device)) - bound);
  }
  if (operator !== '=' && operator !== '!=') throw notOrdered(field, operator, place);
  const isPrefix = wanted.endsWith('*');
  const start = isPrefix ? wanted.slice(0, -1) : wanted;
  return (facts, device) => {
    const actual = String(read(facts, device)).toLowerCase();
    return holds((isPrefix ? actual.startsWith(start) : actual === wanted) ? 0 : 1);
  };
}

function readNumber(
  text: string,
  { field, place }: { readonly field: Field; readonly place: number },
): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (digits !== undefined && factor !== undefined) return Number(digits) * factor;
  throw new ParseError({
    where: whereIn(place),
    got: `${field} compared with ${JSON.stringify(text)}`,
    expected: 'a number, perhaps with KB, MB, GB, KiB, MiB or GiB',
  });
}

function isField(name: string): name is Field {
  return Object.hasOwn(FIELDS, name);
}

function skipBlanks(text: string, place: number): number {
  let end = place;
  while (/\s/.test(text[end] ?? '')) end++;
  return end;
}

function whereIn(place: number): string {
  return `query of devices, character ${place + 1}`;
}

function notATerm(text: string, place: number): ParseError {
  const rest = text.slice(place, place + 20);
  return new ParseError({
    where: whereIn(place),
    got: JSON.stringify(rest),
    expected: 'a term such as class=software or memory>=1GiB',
  });
}

function unknownField(name: string, place: number): ParseError {
  return new ParseError({
    where: whereIn(place),
    got: `the field ${name}`,
    expected: `one of ${shortList(Object.keys(FIELDS))}`,
  });
}

function notOrdered(field: Field, operator: string, place: number): ParseError {
  return new ParseError({
    where: whereIn(place),
    got: `${operator} for ${field}, which is a text`,
    expected: '= or !=',
  });
}
