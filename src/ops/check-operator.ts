import { UsageError } from '../core/errors.ts';
import type { Operator } from './operator.ts';

/** As programs in text form can spell it: a capital begins the name of a constructor. */
const NAME = /^[a-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** Throws UsageError, which names the operator, where a part is missing or does not go with its kind. */
export function checkOperator(op: Operator): void {
  if (!Array.isArray((Object(op) as Partial<Operator>).inputs)) {
    throw operatorFault(
      'of a table',
      'one without inputs',
      'what defineOp or defineElementwise gives',
    );
  }
  if (!NAME.test(op.name)) {
    const expected = 'letters, digits and "_", a small letter first';
    throw operatorFault(JSON.stringify(op.name), 'that name', expected);
  }
  checkInputs(op);
  const { rtol, atol } = op.tolerance;
  if (!(rtol >= 0 && atol >= 0)) {
    const got = `a tolerance of rtol ${rtol} and atol ${atol}`;
    throw operatorFault(op.name, got, 'numbers from 0 up');
  }
  const fault = missingPart(op);
  if (fault !== undefined)
    throw operatorFault(op.name, `the kind ${op.kind} ${fault[0]}`, fault[1]);
}

function checkInputs({ name, inputs }: Operator): void {
  const names = inputs.map((input) => input.name);
  const twice = names.find((input, i) => names.indexOf(input) !== i);
  if (twice !== undefined) throw operatorFault(name, `two inputs ${twice}`, 'each name once');
  for (const [i, input] of inputs.entries()) {
    if (input.dtypes.length === 0) {
      throw operatorFault(name, `an input ${input.name} of no dtypes`, 'one or more');
    }
    if (input.variadic === true && i < inputs.length - 1) {
      throw operatorFault(
        name,
        `a variadic input ${input.name}`,
        'a variadic input only in last place',
      );
    }
  }
}

/** The part that a kind requires and this operator lacks, as `[got, expected]`. */
function missingPart(op: Operator): readonly [string, string] | undefined {
  const { kind, scalar, reference, composition, hostOnlyBecause } = op;
  if (composition !== undefined && kind !== 'opaque') return ['with a composition', 'opaque'];
  // The host knows its meaning.
  if (reference === 'core') return undefined;
  const writes = reference !== undefined && 'reference' in reference;
  switch (kind) {
    case 'elementwise': {
      if (scalar === undefined) return ['without scalar', 'a formula, or WGSL and a reference'];
      if (scalar.formula !== undefined || (writes && reference.element !== undefined)) {
        return undefined;
      }
      return ['with WGSL of its own', 'a reference with element beside it'];
    }
    case 'injective':
      return op.indexMap === undefined ? ['without indexMap', 'an indexMap'] : undefined;
    case 'anchor':
    case 'reduction':
      if (op.lower !== undefined || hostOnlyBecause !== undefined) return undefined;
      return ['without lower', 'a lowering, or hostOnlyBecause'];
    case 'opaque':
      return writes || composition !== undefined
        ? undefined
        : ['without meaning', 'a reference or a composition'];
    case 'dynamic':
      if (reference === undefined || writes)
        return ['without compute', 'a reference that computes'];
      return hostOnlyBecause === undefined ? ['without a reason', 'hostOnlyBecause'] : undefined;
    default:
      return kind satisfies never;
  }
}

export function operatorFault(name: string, got: string, expected: string): UsageError {
  return new UsageError({ where: `operator ${name}`, got, expected });
}
