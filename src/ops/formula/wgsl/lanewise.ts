interface LanewiseOptions {
  readonly parameters?: readonly string[];
  readonly type?: string;
}

/**
 * A WGSL function of `parameters` (`x`, or `a` and `b`) and its form for vec4, which calls it for
 * each lane: `name_f32` and `name_f32x4`.
 */
export function lanewise(
  name: string,
  body: string,
  { parameters = ['x'], type = 'f32' }: LanewiseOptions = {},
): Record<string, string> {
  const scalar = `${name}_${type}`;
  return {
    [scalar]: `fn ${scalar}(${typed(parameters, type)}) -> ${type} {\n${body}\n}`,
    ...inLanes(scalar, { parameters, type }),
  };
}

/** The form for vec4 of a function of scalars, `scalar` and `x4`. */
export function inLanes(
  scalar: string,
  { parameters = ['x'], type = 'f32' }: LanewiseOptions,
): Record<string, string> {
  const lanes = ['x', 'y', 'z', 'w'].map(
    (lane) => `${scalar}(${parameters.map((parameter) => `${parameter}.${lane}`).join(', ')})`,
  );
  const vector = `vec4<${type}>`;
  return {
    [`${scalar}x4`]:
      `fn ${scalar}x4(${typed(parameters, vector)}) -> ${vector} {\n` +
      `  return ${vector}(${lanes.join(', ')});\n}`,
  };
}

function typed(parameters: readonly string[], type: string): string {
  return parameters.map((parameter) => `${parameter}: ${type}`).join(', ');
}

/** Calls a function of {@link lanewise}. */
export function callLanewise(name: string, operands: readonly string[], width: 1 | 4): string {
  return `${name}${width === 1 ? '' : 'x4'}(${operands.join(', ')})`;
}
