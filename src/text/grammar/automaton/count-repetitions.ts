import { contains } from '../languages/code-points.ts';
import { type Expression, type Rules, sequenceOf, text } from '../expression.ts';

/** Repetitions of fewer parts are written out. */
const MIN_COPIES = 8;
/** Units with more forms are written out, because each is compared with each. */
const MAX_FORM_COUNT = 500;

/**
 * Turns bounded repetitions into counted ones where that means the same: of characters (or of texts
 * instead of some, such as escapes), followed by a text that begins with none of them. Written out, each
 * copy would be a state of its own, whose tokens have to be found.
 */
export function countRepetitions({ root, rules }: Rules): Rules {
  return { root, rules: new Map([...rules].map(([name, body]) => [name, counted(body)])) };
}

/** The same for one expression. */
export function counted(expression: Expression): Expression {
  switch (expression.kind) {
    case 'sequence':
      return countedSequence(flatten(expression.parts));
    case 'choice':
      return { ...expression, options: expression.options.map(counted) };
    case 'repeat':
      return { ...expression, body: counted(expression.body) };
    case 'graph': {
      const edges = expression.edges.map((edge) => ({ ...edge, body: counted(edge.body) }));
      return { ...expression, edges };
    }
    case 'text':
    case 'character':
    case 'counted':
    case 'rule':
      return expression;
    default:
      return expression satisfies never;
  }
}

/** The parts of sequences inside a sequence, and adjacent texts as one. */
function flatten(parts: readonly Expression[]): Expression[] {
  const flat: Expression[] = [];
  for (const part of parts.flatMap((part) =>
    part.kind === 'sequence' ? flatten(part.parts) : [part],
  )) {
    const last = flat.at(-1);
    if (last?.kind === 'text' && part.kind === 'text') {
      flat[flat.length - 1] = text(last.text + part.text);
    } else if (part.kind !== 'text' || part.text !== '') {
      flat.push(part);
    }
  }
  return flat;
}

function countedSequence(parts: readonly Expression[]): Expression {
  const result: Expression[] = [];
  for (let i = 0; i < parts.length; i++) {
    const [part, next] = [parts[i], parts[i + 1]];
    if (part === undefined) continue;
    const end = next?.kind === 'text' ? (next.text[0] ?? '') : '';
    if (part.kind !== 'repeat' || next?.kind !== 'text' || !isCountable(part, end)) {
      result.push(counted(part));
      continue;
    }
    const { body: unit, min, max } = part;
    const name = `${JSON.stringify(unit)} ${end}`;
    result.push({ kind: 'counted', name, unit, end, min, max }, text(next.text.slice(1)));
    i++;
  }
  return sequenceOf(result);
}

function isCountable({ body, min, max }: Expression & { kind: 'repeat' }, end: string): boolean {
  const copies = max === Number.POSITIVE_INFINITY ? min : max;
  if (copies < MIN_COPIES || end === '' || end > '\x7f') return false;
  const options = optionsOf(body);
  if (options.length > MAX_FORM_COUNT) return false;
  const texts = options.flatMap((option) => (option.kind === 'text' ? [option.text] : []));
  const firsts = [end, ...texts].map((first) => first.codePointAt(0) ?? -1);
  return (
    options.every(
      (option) =>
        option.kind === 'text' ||
        (option.kind === 'character' && !firsts.some((first) => contains(option.set, first))),
    ) &&
    // No unit, and not the end, is the start of another one.
    [end, ...texts].every(
      (first, i) =>
        first !== '' && !texts.some((other, j) => j !== i - 1 && other.startsWith(first)),
    )
  );
}

function optionsOf(expression: Expression): readonly Expression[] {
  return expression.kind === 'choice' ? expression.options.flatMap(optionsOf) : [expression];
}
