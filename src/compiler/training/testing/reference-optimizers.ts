import type { OptimizerName } from '../../ir/operators/training-operators.ts';

/** One number of a parameter with its slots, in double precision. */
export interface ReferenceState {
  readonly w: number;
  readonly slots: readonly number[];
}

interface ReferenceStep {
  readonly rate: number;
  /** The number of the step, from 1 on. */
  readonly step: number;
  readonly settings: Readonly<Record<string, number | boolean>>;
}

/** The optimisers as their papers write them, for one number. */
export const REFERENCE_OPTIMIZERS: Readonly<
  Record<OptimizerName, (state: ReferenceState, g: number, step: ReferenceStep) => ReferenceState>
> = {
  sgd: ({ w }, g, { rate, settings }) => ({
    w: w - rate * (g + Number(settings['decay'] ?? 0) * w),
    slots: [],
  }),
  momentum({ w, slots: [v = 0] }, gradient, { rate, step, settings }) {
    const momentum = Number(settings['momentum'] ?? 0.9);
    const dampening = step > 1 ? Number(settings['dampening'] ?? 0) : 0;
    const g = gradient + Number(settings['decay'] ?? 0) * w;
    const next = momentum * v + (1 - dampening) * g;
    const direction = settings['nesterov'] === true ? g + momentum * next : next;
    return { w: w - rate * direction, slots: [next] };
  },
  adagrad({ w, slots: [h = 0] }, g, { rate, settings }) {
    const next = h + g * g;
    const epsilon = Number(settings['epsilon'] ?? 1e-10);
    return { w: w - (rate * g) / (Math.sqrt(next) + epsilon), slots: [next] };
  },
  adam: (state, g, call) =>
    adam(state, g + Number(call.settings['decay'] ?? 0) * state.w, { ...call, kept: 1 }),
  adamw: (state, g, call) =>
    adam(state, g, { ...call, kept: 1 - call.rate * Number(call.settings['decay'] ?? 0.01) }),
  lion({ w, slots: [m = 0] }, g, { rate, settings }) {
    const [beta1, beta2] = [Number(settings['beta1'] ?? 0.9), Number(settings['beta2'] ?? 0.99)];
    const direction = Math.sign(beta1 * m + (1 - beta1) * g);
    const kept = 1 - rate * Number(settings['decay'] ?? 0);
    return { w: kept * w - rate * direction, slots: [beta2 * m + (1 - beta2) * g] };
  },
};

function adam(
  { w, slots: [m = 0, v = 0] }: ReferenceState,
  g: number,
  { rate, step, settings, kept }: ReferenceStep & { kept: number },
): ReferenceState {
  const [beta1, beta2] = [Number(settings['beta1'] ?? 0.9), Number(settings['beta2'] ?? 0.999)];
  const mean = beta1 * m + (1 - beta1) * g;
  const square = beta2 * v + (1 - beta2) * g * g;
  const size = Math.sqrt(square / (1 - beta2 ** step)) + Number(settings['epsilon'] ?? 1e-8);
  return { w: kept * w - (rate * (mean / (1 - beta1 ** step))) / size, slots: [mean, square] };
}
