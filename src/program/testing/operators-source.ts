import type { AttributeSpec } from '../../ops/define-op.ts';
import { TESTED_OPS, type TestedOp } from '../../ops/testing/tested-ops.ts';

/** An operator as far as its function depends on it. */
export type DescribedOp = Pick<TestedOp, 'name' | 'summary' | 'inputs' | 'attributes'>;

/** The text of `operators.ts`, which `scripts/write-operators.mjs` writes: a typed function for each operator. */
export function operatorsSource(ops: Iterable<DescribedOp> = TESTED_OPS.values()): string {
  const functions = [...ops].map(functionOf);
  return `// Written by \`node scripts/write-operators.mjs\` from the tables of operators.
import type { Dim } from '../core/dims/dim.ts';
import type { DType } from '../core/tensor/dtype.ts';
import type { NdArray } from './nd-array.ts';
import type { Operand } from './operand.ts';
import { operator, variadic } from './operator.ts';

${functions.join('\n\n')}
`;
}

function functionOf({ name, summary, inputs, attributes }: DescribedOp): string {
  const isVariadic = inputs.some(({ variadic }) => variadic === true);
  const operands = inputs.map(({ name: input, optional, variadic }) => {
    const type = variadic === true ? 'readonly Operand[]' : 'Operand';
    const param = input === 'var' ? 'variance' : camelCased(input);
    return `${param}${optional === true ? '?' : ''}: ${type}`;
  });
  const specs = Object.entries(attributes);
  const isRequired = specs.some(([, spec]) => spec.default === undefined);
  // A required parameter cannot follow an optional one.
  const given = isRequired
    ? operands.map((operand) => operand.replace(/\?: (.*)/, ': $1 | undefined'))
    : operands;
  const fields = specs.map(([attribute, spec]) => {
    const mark = spec.default === undefined ? '' : '?';
    return `    readonly ${camelCased(attribute)}${mark}: ${typeOf(spec)};`;
  });
  const last =
    specs.length === 0 ? [] : [`attributes${isRequired ? '' : '?'}: {\n${fields.join('\n')}\n  }`];
  const params = [...given, ...last].map((param) => `  ${param},`).join('\n');
  const list = params === '' ? '' : `\n${params}\n`;
  const make = isVariadic ? 'variadic' : 'operator';
  return `/** ${docOf(summary)} */
export const ${camelCased(name)}: (${list}) => NdArray = /* @__PURE__ */ ${make}('${name}');`;
}

function docOf(summary: string): string {
  const text = summary.replaceAll('*/', '* /').replaceAll('\\\\|', '|');
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function typeOf({ type, oneOf, length }: AttributeSpec): string {
  const choice = oneOf?.map((value) => `'${value}'`).join(' | ');
  switch (type) {
    case 'int':
    case 'float':
      return 'number';
    case 'ints':
    case 'floats':
      return length === undefined ? 'readonly number[]' : `readonly [${list('number', length)}]`;
    case 'dims':
      return length === undefined ? 'readonly Dim[]' : `readonly [${list('Dim', length)}]`;
    case 'string':
      return choice ?? 'string';
    case 'strings':
      return 'readonly string[]';
    case 'bool':
      return 'boolean';
    case 'dtype':
      return choice ?? 'DType';
    default:
      return type satisfies never;
  }
}

function list(type: string, length: number): string {
  return new Array<string>(length).fill(type).join(', ');
}

/** `reduceSum` of `reduce_sum`. */
function camelCased(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
