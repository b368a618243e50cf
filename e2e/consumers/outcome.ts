/** The findings of `app/check.js`. */
export interface Outcome {
  readonly error?: { readonly name: string; readonly message: string; readonly details?: unknown };
  readonly results?: Readonly<Record<string, ModelResult>>;
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
