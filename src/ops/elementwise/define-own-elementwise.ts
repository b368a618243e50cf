import { checkOptions, type OptionKinds, requireKind } from '../../core/check-options.ts';
import { UsageError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest-name.ts';
import type { OpDefinition } from '../define-op.ts';
import type { Expression } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';

const KINDS: OptionKinds<ElementwiseSpec> = {
  name: 'text',
  inputs: 'list',
  attributes: 'object',
  output: 'function',
  sameDType: 'list',
  scalar: 'object',
  tolerance: 'object',
};

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
  requireKind(where, 'list', ['inputs', spec.inputs]);
  requireKind(where, 'object', ['scalar', spec.scalar]);
  const { formula } = spec.scalar;
  if (formula === undefined) return defineElementwise(spec);
  const checked = (expression: Expression): Expression => {
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
