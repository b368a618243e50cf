import { openTestModel } from '../../src/text/testing/open-test-model.ts';

/** The findings of `app/check.js` and `app/check-models.js`. */
export interface Outcome {
  readonly error?: Failure;
  readonly results?: Readonly<Record<string, ModelResult>>;
  readonly models?: {
    readonly text: string;
    readonly chat: string;
    readonly label: string;
    readonly score: number;
  };
  readonly refusals?: Readonly<Record<string, Failure>>;
  /** Of `environments/guides.ts`: what became of the loads of a page, and what is in a picture. */
  readonly counts?: Readonly<Record<'begun' | 'loaded' | 'disposed' | 'pages', number>>;
  readonly label?: string;
}

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly details?: unknown;
}

interface ModelResult {
  readonly values: readonly number[][];
  readonly device: string;
}

/** The dense model's result for [1, -2, 3, 0.5]: softmax(relu(x · W + b)). */
const EXPECTED = expectedValues();
const TOLERANCE = 1e-6;

/** A line about an outcome in which all loads gave the right numbers. Throws when one did not. */
export function checkOutcome(
  { error, results }: Outcome,
  names = ['dense.weft', 'dense.onnx', 'compiled apart'],
): string {
  if (error !== undefined) throw new Error(`${error.name}: ${error.message}`);
  const lines = names.map((name) => {
    const result = results?.[name];
    const values = result?.values[0] ?? [];
    const isGood =
      values.length === EXPECTED.length &&
      values.every((value, i) => Math.abs(value - (EXPECTED[i] ?? Number.NaN)) <= TOLERANCE);
    if (!isGood)
      throw new Error(`${name} gave ${JSON.stringify(result)}, expected ${String(EXPECTED)}`);
    return `${name.replace('dense', '')} on ${result?.device}`;
  });
  return lines.join(', ');
}

/** A line about an outcome that has to be this WorkerError. Throws for any other. */
export function checkRefusal({ error, results }: Outcome, ...parts: readonly string[]): string {
  if (error === undefined) throw new Error(`expected an error, got ${JSON.stringify(results)}`);
  const missing = parts.filter((part) => !error.message.includes(part));
  if (error.name !== 'WorkerError' || missing.length > 0) {
    throw new Error(
      `expected a WorkerError with ${missing.join(', ')}; got ${error.name}: ${error.message}`,
    );
  }
  return `WorkerError: ${JSON.stringify(error.details)}`;
}

/** Throws for errors other than these: the begin of each, with its name and without an address. */
export function checkRefusals(
  { error, refusals }: Outcome,
  expected: Readonly<Record<string, string>>,
): string {
  if (error !== undefined) throw new Error(`${error.name}: ${error.message}`);
  for (const [name, begin] of Object.entries(expected)) {
    const got = refusals?.[name];
    const text = `${got?.name}: ${got?.message}`.replace(/worker \S+:\/\S+: /, '');
    if (!text.startsWith(begin)) throw new Error(`${name}: expected ${begin}; got ${text}`);
  }
  return `${Object.keys(expected).length} errors of ours`;
}

/** A line about a session, a text, an answer and a class, all right, and errors of what cannot be had. */
export async function checkModels(outcome: Outcome): Promise<string> {
  const session = checkOutcome(outcome, ['dense.weft']);
  const { text = '', chat = '', label, score = 0 } = outcome.models ?? {};
  await using model = await openTestModel('host');
  const expected = await model.generate('Mia went', { maxTokens: 12, temperature: 0 }).text();
  if (text !== expected) throw new Error(`expected the text ${expected}; got ${text}`);
  if (!/^(?:yes|no), Mia$/.test(chat)) throw new Error(`expected yes or no, Mia; got ${chat}`);
  // Of ten times the means of red, green and blue.
  const share = 1 / (1 + 2 * Math.exp(-10));
  if (label !== 'blue' || Math.abs(score - share) > TOLERANCE) {
    throw new Error(`expected blue of ${share}; got ${label} of ${score}`);
  }
  const refused = checkRefusals(outcome, {
    worker: 'WorkerError: got a service worker, which starts no workers of its own',
    sound: 'UnsupportedError: sound: got a Blob, expected { samples, sampleRate }',
  });
  return `${session}, ${JSON.stringify(text)}, ${JSON.stringify(chat)}, ${label}, ${refused}`;
}

function expectedValues(): number[] {
  const x = [1, -2, 3, 0.5];
  const logits = [0, 1, 2].map((column) =>
    Math.max(0, x.reduce((sum, value, row) => sum + value * weight(row, column), 0) + bias(column)),
  );
  const powers = logits.map(Math.exp);
  const total = powers.reduce((sum, value) => sum + value, 0);
  return powers.map((power) => power / total);
}

/** A weight that float32 holds exactly. */
export function weight(row: number, column: number): number {
  return (((row * 3 + column) % 5) - 2) / 4;
}

export function bias(column: number): number {
  return column / 8;
}
