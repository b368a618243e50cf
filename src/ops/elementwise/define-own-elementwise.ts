import {
  checkOptions,
  either,
  fits,
  having,
  listOf,
  oneOf,
  type OptionKind,
  type OptionKinds,
  requireKind,
} from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { ATTRIBUTE_TYPES } from '../attributes.ts';
import { defineOp, type InputSpec, type OpDefinition, type Tolerance } from '../define-op.ts';
import type { Expression } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';

const INPUTS = listOf([
  '{ name, dtypes }',
  (value) => {
    const { name, dtypes } = Object(value) as Partial<InputSpec>;
    return fits('text', name) && fits(listOf('dtype'), dtypes);
  },
]);
const ATTRIBUTES: OptionKind = [
  `{ type } by their names, one of ${ATTRIBUTE_TYPES.join(', ')}`,
  (value) =>
    fits('object', value) &&
    Object.values(Object(value) as object).every((spec) =>
      ATTRIBUTE_TYPES.includes(String((Object(spec) as { readonly type?: unknown }).type)),
    ),
];
const TOLERANCE: OptionKind = [
  '{ rtol, atol }, from 0 up',
  (value) => {
    const { rtol = -1, atol = -1 } = Object(value) as Partial<Tolerance>;
    return rtol >= 0 && atol >= 0;
  },
];
const PARTS = ['left', 'right', 'x', 'condition', 'whenTrue', 'whenFalse', 'body'];
const EXPRESSION: OptionKind = [
  'what the functions of formula make',
  (value) => fits('text', (Object(value) as Partial<Expression>).kind),
];

const KINDS: OptionKinds<ElementwiseSpec> = {
  name: 'text',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  output: 'function',
  sameDType: 'list',
  scalar: 'object',
  tolerance: TOLERANCE,
};

const OP_KINDS: OptionKinds<OpDefinition> = {
  name: 'text',
  kind: oneOf('elementwise', 'injective', 'reduction', 'anchor', 'opaque', 'dynamic'),
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer: 'function',
  storage: 'object',
  scalar: 'object',
  indexMap: 'object',
  fusion: 'object',
  lower: either(oneOf('core'), ['a lowering', (value) => value !== undefined]),
  hostOnlyBecause: 'text',
  tolerance: TOLERANCE,
};

/** {@link defineOp} of the caller's own. Throws UsageError for a part that is missing, of another kind or unknown. */
export function defineOwnOp<const Name extends string>(
  definition: OpDefinition<Name>,
): OpDefinition<Name> {
  const where = `defineOp ${String((Object(definition) as Partial<OpDefinition>).name)}`;
  checkOptions<OpDefinition>(where, definition, OP_KINDS);
  for (const part of ['name', 'kind', 'inputs', 'attributes', 'infer', 'tolerance'] as const) {
    requireKind(where, OP_KINDS[part], [part, definition[part]]);
  }
  return defineOp(definition);
}

/**
 * An elementwise operator of the caller's own: its output element depends on the inputs' elements there, after broadcasting.
 * Throws UsageError where its formula reads attributes or inputs that it does not declare, or calls a function that there is not;
 * for a formula that depends on the call, then.
 */
export function defineOwnElementwise<const Name extends string>(
  spec: ElementwiseSpec<Name>,
): OpDefinition<Name> {
  const where = `defineElementwise ${String((Object(spec) as Partial<ElementwiseSpec>).name)}`;
  checkOptions<ElementwiseSpec>(where, spec, KINDS);
  requireKind(where, INPUTS, ['inputs', spec.inputs]);
  requireKind(where, 'object', ['scalar', spec.scalar]);
  const { formula } = spec.scalar;
  if (formula === undefined) {
    requireKind(where, having('a formula, or wgsl', 'wgsl'), ['a scalar that is', spec.scalar]);
    return defineElementwise(spec);
  }
  const checked = (expression: Expression): Expression => {
    requireKind(where, EXPRESSION, ['the formula', expression]);
    for (const node of nodesOf(expression)) checkNode(where, node, spec);
    return expression;
  };
  return defineElementwise({
    ...spec,
    scalar: {
      ...spec.scalar,
      formula: typeof formula === 'function' ? (call) => checked(formula(call)) : checked(formula),
    },
  });
}

/** All nodes of a formula, each once: those of values that are given to a function too. */
function nodesOf(value: unknown, found = new Set<Expression>()): ReadonlySet<Expression> {
  if (typeof value !== 'object' || value === null || found.has(value as Expression)) return found;
  if ('kind' in value) found.add(value as Expression);
  for (const part of Object.values(value)) nodesOf(part, found);
  return found;
}

function checkNode(where: string, node: Expression, { inputs, attributes }: ElementwiseSpec): void {
  const complain = (got: string, names: readonly string[], name = ''): never => {
    const expected = names.length === 0 ? 'no attributes' : `one of ${names.join(', ')}`;
    throw new UsageError({ where, got, expected, remedy: nearestName(name, names) });
  };
  for (const part of PARTS) {
    const operand: unknown = Reflect.get(node, part);
    if (part in node)
      requireKind(where, EXPRESSION, ['in the formula, an operand that is', operand]);
  }
  if (node.kind === 'attribute' && !Object.hasOwn(attributes ?? {}, node.name)) {
    complain(`the attribute ${node.name} in the formula`, Object.keys(attributes ?? {}), node.name);
  }
  if (node.kind === 'intrinsic' && !Object.hasOwn(INTRINSICS, node.name)) {
    complain(`the function ${node.name} in the formula`, Object.keys(INTRINSICS), node.name);
  }
  if (node.kind === 'operand' && inputs[node.index] === undefined) {
    complain(`input ${node.index} in the formula`, [...inputs.keys()].map(String));
  }
}
