import {
  DeviceTensor,
  type Inputs,
  type OutputValue,
  Session,
  Tensor,
} from '../../src/client/index.ts';
import { compile, parseModule } from '../../src/frontend/index.ts';
import { type ParameterShapes, stateShapes } from './training-program.ts';

type Values = Record<string, Tensor | DeviceTensor>;

interface StepResult {
  /** Of the batch, before the step. */
  readonly loss: number;
  /** Before it was clipped. */
  readonly normOfGradient: number;
}

/** A model while it learns, on the device wasm. Its parameters and the running means of AdamW stay there. */
export class Trainer {
  /** Steps since the parameters were random. */
  steps = 0;
  readonly #session: Session;
  readonly #shapes: ParameterShapes;
  readonly #names: readonly string[];
  #state: Values;

  private constructor(session: Session, parameters: ParameterShapes) {
    this.#session = session;
    this.#shapes = stateShapes(parameters);
    this.#names = [...this.#shapes.keys()];
    this.#state = Object.fromEntries(
      [...this.#shapes].map(([name, shape]) => [
        name,
        new Tensor('float32', new Float32Array(countOf(shape)), [...shape]),
      ]),
    );
  }

  /**
   * Compiles the text of a `trainingProgram`. `initial` fills the zeros of a parameter with first values.
   */
  static async open(
    program: string,
    parameters: ParameterShapes,
    options: { threads: number; initial: (values: Float32Array, name: string) => void },
  ): Promise<Trainer> {
    const session = await Session.load(compile(parseModule(program)).toBytes(), {
      device: 'wasm',
      worker: false,
      threads: options.threads,
    });
    const trainer = new Trainer(session, parameters);
    for (const name of parameters.keys()) {
      const value = trainer.#state[name];
      if (value instanceof Tensor) options.initial(value.data as Float32Array, name);
    }
    return trainer;
  }

  /** One step, at a rate of learning. */
  async step(batch: Inputs, rate: number): Promise<StepResult> {
    const donate = this.#names.filter((name) => this.#state[name] instanceof DeviceTensor);
    const results = await this.#session.run<OutputValue>(
      { ...this.#state, ...batch, rate, step: this.steps + 1 },
      { keep: [...this.#names], donate },
    );
    this.#state = Object.fromEntries(this.#names.map((name) => [name, results[name]])) as Values;
    this.steps++;
    const loss = numberOf(results['loss']);
    if (!Number.isFinite(loss)) throw new Error(`The loss of step ${this.steps} is ${loss}.`);
    return { loss, normOfGradient: numberOf(results['norm_of_gradient']) };
  }

  /** The first result of another function of the program, which takes the parameters and further inputs. */
  async evaluate(name: string, inputs: Inputs): Promise<Float32Array> {
    const parameters = Object.fromEntries(
      Object.entries(this.#state).filter(([key]) => !/\.(mean|square)$/.test(key)),
    );
    const results = await this.#session.run({ ...parameters, ...inputs }, { function: name });
    const [result] = Object.values(results);
    return (result as Tensor).data as Float32Array;
  }

  /** All values of a parameter. */
  async read(name: string): Promise<Float32Array> {
    const value = this.#state[name];
    if (value === undefined) throw new Error(`The program has no parameter ${name}.`);
    return (value instanceof DeviceTensor ? await value.read() : value).data as Float32Array;
  }

  /** The whole state, in the order of {@link stateShapes}, in float32. */
  async save(): Promise<Uint8Array> {
    const parts = await Promise.all(this.#names.map((name) => this.read(name)));
    return Buffer.concat(
      parts.map(
        ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
      ),
    );
  }

  /** Goes on after `steps` steps with a state that {@link save} wrote. */
  load(steps: number, bytes: Uint8Array): void {
    const state = splitState(this.#shapes, bytes);
    for (const value of Object.values(this.#state))
      if (value instanceof DeviceTensor) value.dispose();
    this.#state = Object.fromEntries(
      [...this.#shapes].map(([name, shape]) => [
        name,
        new Tensor('float32', state.get(name) ?? new Float32Array(0), [...shape]),
      ]),
    );
    this.steps = steps;
  }

  dispose(): Promise<void> {
    return this.#session.dispose();
  }
}

/** The values of a saved state by name. */
export function splitState(shapes: ParameterShapes, bytes: Uint8Array): Map<string, Float32Array> {
  const values = new Float32Array(bytes.slice().buffer);
  let at = 0;
  const state = new Map<string, Float32Array>();
  for (const [name, shape] of shapes) {
    state.set(name, values.slice(at, at + countOf(shape)));
    at += countOf(shape);
  }
  if (at === values.length) return state;
  throw new Error(
    `The checkpoint has ${values.length} numbers, and the model's state ${at}: it is of another model. Train anew, without --resume.`,
  );
}

const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

function numberOf(value: OutputValue | undefined): number {
  return value instanceof Tensor ? Number(value.data[0]) : Number.NaN;
}
