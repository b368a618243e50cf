/** Parameters of a model by name, with their shapes; those of rank 1 keep out of weight decay. */
export type ParameterShapes = ReadonlyMap<string, readonly number[]>;

/** A training step as text of the language: everything that is not the model itself. */
interface TrainingProgram {
  readonly parameters: ParameterShapes;
  /** Further inputs of a step as they are declared: `%images: Tensor[(n, 784), float32]`. */
  readonly inputs: readonly string[];
  /**
   * The program's function `@loss`, which takes the parameters and the inputs in order, and what else
   * there is to call.
   */
  readonly model: string;
  /** Of the running mean of squares. */
  readonly beta2: number;
  /** Weight decay of a step, in units of the rate. */
  readonly decay: number;
  /** The greatest norm of a gradient; longer ones are cut to it. */
  readonly clip: number;
}

/** Parameters and their running means of AdamW, in the order of a step's results. */
export function stateShapes(parameters: ParameterShapes): ParameterShapes {
  const named = (suffix: string) =>
    [...parameters].map(([name, shape]) => [`${name}${suffix}`, shape] as const);
  return new Map([...named(''), ...named('.mean'), ...named('.square')]);
}

/** A tensor type; sizes may be names. */
export const tensorType = (shape: readonly (number | string)[], dtype = 'float32'): string =>
  `Tensor[(${shape.join(', ')}${shape.length === 1 ? ',' : ''}), ${dtype}]`;

/** Declarations of parameters, a line each. */
export const declare = (shapes: ParameterShapes): string =>
  [...shapes].map(([name, shape]) => `    %${name}: ${tensorType(shape)}`).join(',\n');

/** Variables as arguments. */
export const variables = (names: Iterable<string>): string =>
  [...names].map((name) => `%${name}`).join(', ');

/**
 * `@main` of the program: a step of AdamW on a gradient of clipped norm, from the state, the inputs, the rate
 * and the number of the step to the loss, the norm and the state after it.
 */
export function trainingProgram(program: TrainingProgram): string {
  const { parameters, inputs, model, beta2, decay, clip } = program;
  const names = [...parameters.keys()];
  const state = stateShapes(parameters);
  const results = ['loss', 'norm_of_gradient', ...state.keys()];
  const inputNames = inputs.map((input) => input.slice(1, input.indexOf(':')));
  const squares = names.map((_, i) => `reduce_sum(mul(%g.${i}, %g.${i}))`);
  const shaped = (part: number): string =>
    [...parameters]
      .map(([name, shape]) => `reshape(%${name}.new.${part}, shape=[${shape.join(', ')}])`)
      .join(', ');
  return `${model}
${adamw(beta2)}
def @main(
${declare(state)},
    ${inputs.join(',\n    ')},
    %rate: float, %step: int,
    results=[${results.map((name) => `"${name}"`).join(', ')}]) {
  let %result = gradient(fn (
${declare(parameters)}) {
    @loss(${variables([...names, ...inputNames])})
  })(${variables(names)});
  let %g = %result.1;
  let %norm_of_gradient = sqrt(${squares.reduce((a, b) => `add(${a}, ${b})`)});
  let %clip = minimum(1f, div(${clip}f, add(%norm_of_gradient, 0.000001f)));
  let %t = float_from_int(%step);
  let %scale = @number(float_div(%rate, float_sub(#1.0, float_pow(#0.9, %t))));
  let %fix = @number(float_sub(#1.0, float_pow(${hostFloat(beta2)}, %t)));
  let %keep = @number(float_sub(#1.0, float_mul(%rate, ${hostFloat(decay)})));
${[...parameters].map(updated).join('\n')}
  (%result.0, %norm_of_gradient,
    ${[0, 1, 2].map(shaped).join(',\n    ')})
}
`;
}

/** A float of the host as the language spells it: `#0` would be an int. */
const hostFloat = (value: number): string =>
  `#${Number.isInteger(value) ? value.toFixed(1) : value}`;

function updated([name, shape]: readonly [string, readonly number[]], index: number): string {
  const count = shape.reduce((a, b) => a * b, 1);
  const flat = (value: string): string => `reshape(${value}, shape=[${count}])`;
  const keep = shape.length > 1 ? '%keep' : '1f';
  return `  let %${name}.new = @adamw(${flat(`%${name}`)}, ${flat(`%g.${index}`)}, ${flat(`%${name}.mean`)},
    ${flat(`%${name}.square`)}, %clip, %scale, %fix, ${keep});`;
}

const adamw = (beta2: number): string => `
// AdamW (Loshchilov and Hutter 2019). \`%clip\` scales the gradient, \`%scale\` is the rate over the bias
// correction of the mean, \`%fix\` the bias correction of the square, \`%keep\` what weight decay leaves.
private def @adamw(
    %w: Tensor[(n,), float32], %gradient: Tensor[(n,), float32], %mean: Tensor[(n,), float32],
    %square: Tensor[(n,), float32], %clip: Tensor[(), float32], %scale: Tensor[(), float32],
    %fix: Tensor[(), float32], %keep: Tensor[(), float32]) {
  let %g = mul(%gradient, %clip);
  let %m = add(mul(%mean, 0.9f), mul(%g, 0.1f));
  let %s = add(mul(%square, ${beta2}f), mul(mul(%g, %g), ${Number((1 - beta2).toFixed(6))}f));
  %step = div(%m, add(sqrt(div(%s, %fix)), 0.00000001f));
  (sub(mul(%w, %keep), mul(%step, %scale)), %m, %s)
}

private def @number(%x: float) -> Tensor[(), float32] { reshape(tensor_of(%x, dtype="float32"), shape=[]) }
`;
