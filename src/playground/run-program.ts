import {
  type InputValue,
  type LoadOptions,
  type OutputValue,
  Session,
  Tensor,
  UsageError,
  type ValueInfo,
} from '../client/index.ts';

/** A number, or nested lists of numbers. */
type Numbers = number | boolean | readonly Numbers[];

/** A value of a data type: `{ "constructor": "Leaf", "fields": [1] }`. */
interface Construction {
  readonly constructor: string;
  readonly fields: readonly Argument[];
}

type Argument = Numbers | Construction;

/** The most elements of a result that are shown. */
const MOST_ELEMENTS = 200;

/** Endless programs end with an error, greedy ones too, and none brings code for the GPU. */
const LIMITS: LoadOptions = {
  runTimeout: 10_000,
  byteBudget: 2 ** 29,
  programKernels: 'refuse',
};

/** The results of a program, as text. Rejects with what is wrong in its arguments, and as `Session.run` does. */
export async function runProgram(bytes: Uint8Array, input: string): Promise<string> {
  const session = await Session.load(bytes, LIMITS);
  try {
    const results = await session.run<OutputValue>(readArguments(session.inputs, input));
    const lines = Object.entries(results).map(([name, value]) => `${name} = ${shown(value)}`);
    return `${lines.join('\n')}\n\non ${session.device.name}: ${session.device.reason}`;
  } finally {
    await session.dispose();
  }
}

/** Arguments by name, with the types that the program's parameters have. */
function readArguments(inputs: readonly ValueInfo[], text: string): Record<string, InputValue> {
  const given = parseObject(text);
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const input = inputs.find((one) => one.name === name);
      return [name, argument(input?.dtype, value)];
    }),
  );
}

function parseObject(text: string): Record<string, Argument> {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, Argument>;
    }
  } catch {
    // Said below.
  }
  throw new UsageError({
    where: 'arguments',
    got: text,
    expected: 'JSON of an object, such as { "x": [1, 2] }',
  });
}

function argument(dtype: ValueInfo['dtype'] | undefined, value: Argument): InputValue {
  if (isConstruction(value)) {
    // Which field is a tensor only the program knows; those that are written in lists and numbers are.
    const fields = value.fields.map((field) => argument(undefined, field));
    return { constructor: value.constructor, fields };
  }
  if (typeof value === 'number' && (dtype === 'int' || dtype === 'float')) return value;
  // Values of other types are refused by the session, which says what it expects.
  return Tensor.from(value, dtype as never);
}

const isConstruction = (value: Argument): value is Construction =>
  typeof value === 'object' && !Array.isArray(value) && 'fields' in value;

function shown(value: OutputValue): string {
  if (value instanceof Tensor) {
    const { dtype, shape, data } = value;
    const rest = data.length > MOST_ELEMENTS ? `, ${data.length - MOST_ELEMENTS} more` : '';
    const elements =
      data.length > MOST_ELEMENTS
        ? Array.from(data.subarray(0, MOST_ELEMENTS), Number).join(', ')
        : JSON.stringify(value.toNested(), (_, part: unknown) =>
            typeof part === 'bigint' ? Number(part) : part,
          );
    return `${dtype}[${shape.join(', ')}] ${elements}${rest}`;
  }
  if (Array.isArray(value)) return `(${value.map(shown).join(', ')})`;
  if (typeof value === 'object' && value !== null && 'fields' in value) {
    const name = 'tag' in value ? (value.tag === 0 ? '' : `#${value.tag}`) : value.constructor;
    return `${name}(${value.fields.map(shown).join(', ')})`;
  }
  return typeof value === 'object' ? 'a function or a value of the host' : String(value);
}
