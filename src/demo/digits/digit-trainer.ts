import {
  DeviceTensor,
  type Inputs,
  type OutputValue,
  type Profile,
  type ResumedState,
  type Session,
  Tensor,
} from '../../client/index.ts';
import { PARAMETER_SHAPES, randomParameters, TRAINING_BATCH } from './digit-parameters.ts';
import { IMAGE_SIZE } from './rasterize-drawing.ts';
import type { DigitBatch } from './write-batch.ts';

type Held = Tensor | DeviceTensor;
type Values = Record<string, Held>;

const PARAMETERS = Object.keys(PARAMETER_SHAPES);
/** The running means of AdamW beside each parameter. */
const MOMENTS = PARAMETERS.flatMap((name) => [`${name}.mean`, `${name}.square`]);
const STATE = [...PARAMETERS, ...MOMENTS];

/** One step's mean cross entropy, in nats, and how many digits of the batch were read right before it. */
export interface StepResult {
  readonly loss: number;
  readonly right: number;
}

/**
 * The digit network while it learns. Parameters and moments stay on the device. Those before a step
 * live until its results are there, so that a snapshot in between loses nothing. Calls wait for
 * each other.
 */
export class DigitTrainer {
  readonly session: Session;
  /** Steps since the parameters were random. */
  steps = 0;
  #state: Values;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: Session, random: () => number) {
    this.session = session;
    this.#state = freshState(random);
  }

  /** The state as a snapshot stores it. */
  get tensors(): Readonly<Values> {
    return this.#state;
  }

  /** Begins anew, with other random parameters. */
  reset(random: () => number): Promise<void> {
    return this.#next(() => {
      this.#replace(freshState(random));
      this.steps = 0;
      return Promise.resolve();
    });
  }

  /** Goes on with what a snapshot held, and with the step that was under way. */
  async restore(steps: number, { tensors, runs }: ResumedState): Promise<void> {
    this.#take(tensors);
    this.steps = steps;
    for (const run of runs) {
      if (run.entry === 'main') this.#take(await run.result({ keep: 'device' }));
    }
  }

  /**
   * One step on a batch of {@link TRAINING_BATCH} digits. With `onProfile` each kernel is timed, and the state
   * passes through the page.
   */
  step(
    batch: DigitBatch,
    rate: number,
    onProfile?: (profile: Profile) => void,
  ): Promise<StepResult> {
    return this.#next(async () => {
      const numbers = { rate, step: this.steps + 1 };
      const inputs = { ...this.#state, ...numbers, ...tensorsOf(batch, TRAINING_BATCH) };
      const results = await this.#run(inputs, onProfile);
      this.#take(results);
      return { loss: numberOf(results['loss']), right: numberOf(results['right']) };
    });
  }

  async #run(
    inputs: Inputs,
    onProfile: ((profile: Profile) => void) | undefined,
  ): Promise<Readonly<Record<string, OutputValue>>> {
    if (onProfile === undefined) return this.session.run<OutputValue>(inputs, { keep: STATE });
    const profile = await this.session.profile(inputs);
    onProfile(profile);
    return profile.outputs;
  }

  /** How many digits of a batch of any size the network reads right. */
  evaluate(batch: DigitBatch): Promise<number> {
    return this.#next(async () => {
      const inputs = { ...this.#parameters, ...tensorsOf(batch, batch.labels.length) };
      const { right } = await this.session.run(inputs, { function: 'evaluate' });
      return numberOf(right);
    });
  }

  /** Probabilities [10] of an image [1, 1, 28, 28]. */
  read(image: Tensor): Promise<Float32Array> {
    return this.#next(async () => {
      const inputs = { ...this.#parameters, image };
      const { probabilities } = await this.session.run(inputs, { function: 'predict' });
      return (probabilities as Tensor).data as Float32Array;
    });
  }

  /** Does the same as {@link read}, and tells what each kernel took. */
  profile(image: Tensor): Promise<Profile> {
    return this.#next(() =>
      this.session.profile({ ...this.#parameters, image }, { function: 'predict' }),
    );
  }

  get #parameters(): Values {
    return Object.fromEntries(
      Object.entries(this.#state).filter(([name]) => name in PARAMETER_SHAPES),
    );
  }

  #take(results: Readonly<Record<string, OutputValue>>): void {
    const entries = STATE.map((name) => [name, results[name]] as const);
    this.#replace(Object.fromEntries(entries) as Values);
    this.steps++;
  }

  #replace(state: Values): void {
    for (const old of Object.values(this.#state)) if (old instanceof DeviceTensor) old.dispose();
    this.#state = state;
  }

  #next<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function freshState(random: () => number): Values {
  const zeros = MOMENTS.map((name) => {
    const shape = PARAMETER_SHAPES[name.slice(0, name.indexOf('.'))] ?? [];
    const count = shape.reduce((product, size) => product * size, 1);
    return [name, new Tensor('float32', new Float32Array(count), [...shape])];
  });
  return { ...randomParameters(random), ...Object.fromEntries(zeros) };
}

function tensorsOf({ images, labels }: DigitBatch, count: number) {
  return {
    images: new Tensor('float32', images, [count, 1, IMAGE_SIZE, IMAGE_SIZE]),
    labels: new Tensor('int32', labels, [count]),
  };
}

function numberOf(value: unknown): number {
  return value instanceof Tensor ? Number(value.data[0]) : Number.NaN;
}
