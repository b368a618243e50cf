import { DeviceTensor, OpaqueValue, type OutputValue, Tensor } from '../../client/index.ts';
import { float16ToNumber } from '../../core/tensor/float16.ts';
import { activate, areProbabilities, topLabels } from '../../tasks/index.ts';
import { element } from '../element.ts';
import { formatPercent } from '../sections/probability-bars.ts';

const SHOWN_VALUES = 6;

interface OutputDescription {
  readonly type: string;
  readonly range: string;
  readonly values: string;
}

/** A result in a few words: type, smallest to largest value, the first values. */
function describeOutput(value: OutputValue): OutputDescription {
  if (value instanceof Tensor) return describeTensor(value);
  if (value instanceof DeviceTensor) {
    return {
      type: `${value.dtype} [${value.shape.join(', ')}]`,
      range: '',
      values: 'on the device',
    };
  }
  if (value instanceof OpaqueValue) {
    return { type: `Opaque[${value.name}]`, range: '', values: '' };
  }
  if (value === null || typeof value !== 'object') {
    return { type: value === null ? 'null' : typeof value, range: '', values: String(value) };
  }
  if ('fields' in value) {
    const fields = value.fields.map((field) => describeOutput(field).values);
    const type = 'tag' in value ? `ADT, tag ${value.tag}` : value.constructor;
    return { type, range: '', values: fields.join('; ') };
  }
  const values = value.map((field) => describeOutput(field).values);
  const type = value.every((field) => typeof field === 'number') ? 'shape' : 'tuple';
  return { type, range: '', values: `(${values.join(', ')})` };
}

function describeTensor(tensor: Tensor): OutputDescription {
  const isHalf = tensor.dtype === 'float16';
  const numbers = Array.from<number | bigint, number>(tensor.data, (element) =>
    isHalf ? float16ToNumber(Number(element)) : Number(element),
  );
  let low = Infinity;
  let high = -Infinity;
  for (const number of numbers) {
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  const more = numbers.length > SHOWN_VALUES ? ', …' : '';
  return {
    type: `${tensor.dtype} [${tensor.shape.join(', ')}]`,
    range: numbers.length === 0 ? 'empty' : `${formatNumber(low)} to ${formatNumber(high)}`,
    values: numbers.slice(0, SHOWN_VALUES).map(formatNumber).join(', ') + more,
  };
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}

const TOP = 5;
/** A scrollable region has to be in the tab order, so that the keyboard can scroll it. */
const SCROLLED = { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Outputs' };
/** From so many to so many classes, a list of numbers is shown as scores. */
const FEWEST_CLASSES = 2;
const MOST_CLASSES = 50_000;

/** Names of outputs that are vectors of a text or a picture, whose elements are no scores. */
const EMBEDDING = /embed|hidden|pool|feature/i;

/** Outputs: those that are scores of classes as bars, and all of them as a table. */
export function showResults(
  outputs: Readonly<Record<string, OutputValue>>,
  labels: readonly string[] | undefined,
): HTMLElement {
  const scores = Object.entries(outputs).flatMap(([name, value]) => {
    const list = scoresOf(value);
    const isVector = EMBEDDING.test(name) && list?.length !== labels?.length;
    return list === undefined || isVector ? [] : [scoreList(name, list, labels)];
  });
  const rows = Object.entries(outputs).map(([name, value]) => {
    const { type, range, values } = describeOutput(value);
    return [name, type, range, values];
  });
  const all = table(['Output', 'Type', 'Range', 'First values'], rows);
  return element('div', { class: 'results' }, ...scores, element('div', SCROLLED, all));
}

function scoreList(
  name: string,
  scores: Float64Array,
  labels: readonly string[] | undefined,
): HTMLElement {
  const known = labels?.length === scores.length ? labels : undefined;
  const rows = topLabels(scores, { topK: TOP, labels: known }).map(({ label, score }) => {
    const fill = element('div', { class: 'bar-fill' });
    fill.style.transform = `scaleX(${score})`;
    const track = element('div', { class: 'bar-track' }, fill);
    const value = element('span', { class: 'bar-value' }, formatPercent(score));
    return element('li', { class: 'bar' }, element('span', {}, label), track, value);
  });
  const unfit =
    labels === undefined || known !== undefined
      ? ''
      : ` (${labels.length} labels do not fit ${scores.length} classes)`;
  return element(
    'div',
    {},
    element('h4', {}, `Likeliest in ${name}${unfit}`),
    element('ol', { class: 'bars', 'aria-label': `Likeliest in ${name}` }, ...rows),
  );
}

/** Scores from 0 to 1 of the first row, if a value looks like a list of classes. */
export function scoresOf(value: OutputValue): Float64Array | undefined {
  if (!(value instanceof Tensor) || value.dtype !== 'float32') return undefined;
  const [count, ...rest] = value.shape;
  const own = rest.length === 0 ? value.shape : rest;
  // [1, 1000] and also [1, 1000, 1, 1], as convolutional networks give it.
  const [classes = 0, ...others] = own.filter((size) => size !== 1);
  const isList = others.length === 0 && (rest.length === 0 || count === 1);
  if (!isList || classes < FEWEST_CLASSES || classes > MOST_CLASSES) return undefined;
  const numbers = Float64Array.from(value.data, Number);
  return activate(numbers, areProbabilities(numbers) ? 'none' : 'softmax');
}

/** Names of classes in a file: a JSON list, `id2label` of a `config.json`, or a line each. */
export function parseLabels(text: string): string[] {
  if (!/^\s*[[{]/.test(text)) {
    return text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }
  const given: unknown = JSON.parse(text);
  if (Array.isArray(given)) return given.map(String);
  const fields = given as Readonly<Record<string, unknown>>;
  const names = (fields['id2label'] ?? fields) as Readonly<Record<string, unknown>>;
  return Object.entries(names)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, name]) => String(Array.isArray(name) ? name.at(-1) : name));
}

/** A table of texts with a row of headings. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
): HTMLTableElement {
  const head = columns.map((text) => element('th', { scope: 'col' }, text));
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', {}, cell))),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...body),
  );
}
