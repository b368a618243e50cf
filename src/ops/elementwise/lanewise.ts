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
  const typed = (of: string) => parameters.map((parameter) => `${parameter}: ${of}`).join(', ');
  const scalar = `${name}_${type}`;
  const lanes = ['x', 'y', 'z', 'w'].map(
    (lane) => `${scalar}(${parameters.map((parameter) => `${parameter}.${lane}`).join(', ')})`,
  );
  return {
    [scalar]: `fn ${scalar}(${typed(type)}) -> ${type} {\n${body}\n}`,
    [`${scalar}x4`]:
      `fn ${scalar}x4(${typed(`vec4<${type}>`)}) -> vec4<${type}> {\n` +
      `  return vec4<${type}>(${lanes.join(', ')});\n}`,
  };
}

/** Calls a function of {@link lanewise}. */
export function callLanewise(name: string, operands: readonly string[], width: 1 | 4): string {
  return `${name}${width === 1 ? '' : 'x4'}(${operands.join(', ')})`;
}
