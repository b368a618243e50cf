import { type Inputs, type OutputValue, Session, Tensor } from '../../src/client/index.ts';
import { randomInputs } from '../../src/client/values/random-inputs.ts';
import { seededRandom } from '../../src/core/random.ts';
import { type BenchCase, CASE_TYPES, type CaseTensor } from '../cases/bench-case.ts';
import { elements } from '../page/runtime.ts';

/** A whole model of the demo. */
export interface ReportModel {
  readonly name: string;
  readonly title: string;
  /** Sizes of its symbolic dimensions. */
  readonly dims: Readonly<Record<string, number>>;
}

export const REPORT_MODELS: readonly ReportModel[] = [
  { name: 'digits', title: 'digits, a convolutional network of 28x28', dims: {} },
  { name: 'detector', title: 'detector, 22 kernels, boxes in 48x48', dims: {} },
  {
    name: 'transformer',
    title: 'decoder of two layers, 64 tokens behind 64',
    dims: { batch: 1, sequence: 64, past: 64 },
  },
];

/** Outputs may be apart by a thousandth of their range. */
const TOLERANCE = 1e-3;

/** A model with random inputs, and what the host device computes of them, ready for a race. */
export async function modelCase(model: ReportModel): Promise<BenchCase> {
  const { name } = model;
  const address = new URL(`models/${name}.weft`, document.baseURI).href;
  const bytes = elements.get(address) ?? (await fetchBytes(address));
  elements.set(address, bytes);
  await using session = await Session.load(bytes, { device: 'host' });
  const inputs = modelInputs(session, model);
  const outputs = await session.run<OutputValue>(inputs);
  return {
    name,
    model: address,
    executable: address,
    inputs: Object.entries(inputs).flatMap(([key, value]) => place(`${name}/in/${key}`, value)),
    weights: [],
    expected: Object.entries(outputs).flatMap(([key, value]) => place(`${name}/out/${key}`, value)),
    tolerance: TOLERANCE,
  };
}

/** The same inputs for every session of a model. */
export const modelInputs = (session: Session, { dims }: ReportModel): Inputs =>
  randomInputs(session.inputs, new Map(Object.entries(dims)), seededRandom(1));

async function fetchBytes(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: got status ${response.status}`);
  return response.arrayBuffer();
}

/** Gives the elements of a tensor an address. */
function place(url: string, value: unknown): CaseTensor[] {
  if (!(value instanceof Tensor)) throw new Error(`internal: ${url} is no tensor`);
  const { dtype, shape, data } = value;
  const known = CASE_TYPES.find((name) => name === dtype);
  if (known === undefined) throw new Error(`internal: ${url} has dtype ${dtype}`);
  elements.set(url, data.slice().buffer);
  return [{ dtype: known, shape, url }];
}
