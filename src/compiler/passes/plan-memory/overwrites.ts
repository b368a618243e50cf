import type { Operators } from '../../../ops/operators.ts';
import { type BlockTable, innerBlocks } from '../../ir/block.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import type { TensorAliases } from './tensor-aliases.ts';

/** How a kernel comes by the memory of an input that it changes in place. */
export type Overwrite =
  /** The input is the result of a kernel of the block, which nothing reads any more. */
  | { readonly kind: 'planned'; readonly input: number; readonly kernel: number }
  /** Nothing of the function reads the input any more. The machine copies it if somebody else does. */
  | { readonly kind: 'owned'; readonly input: number };

/** The parameter that a primitive function changes in place: that of its only call, if the operator overwrites it. */
export function overwrittenParameter(
  { params, body }: FunctionExpr,
  operators: Operators,
): number | undefined {
  if (body.kind !== 'call' || body.callee.kind !== 'operator') return undefined;
  const input = operators.require(body.callee.name).storage?.overwrites;
  const read = input === undefined ? undefined : body.args[input];
  const param = params.findIndex((one) => one === read);
  const isReadOnce = body.args.filter((arg) => arg === read).length === 1;
  return param >= 0 && isReadOnce ? param : undefined;
}

/** A step of the block that begins with an expression. */
interface Place {
  readonly root: Expr;
  readonly step: number;
}

/** Finds out whether values are read after a step, in its block or in those around it. */
export class LaterReads {
  readonly #blocks: BlockTable;
  readonly #aliases: TensorAliases;
  /** Where the values of branches go on. A closure holds what it captures. */
  readonly #around = new Map<Expr, Place[]>();

  constructor(blocks: BlockTable, aliases: TensorAliases) {
    this.#blocks = blocks;
    this.#aliases = aliases;
    for (const root of blocks.roots()) {
      const { steps, result } = blocks.of(root);
      for (const [step, { value }] of [...steps, { value: result }].entries()) {
        if (value.kind !== 'if' && value.kind !== 'match') continue;
        for (const inner of innerBlocks(value)) {
          this.#around.set(inner, [...(this.#around.get(inner) ?? []), { root, step }]);
        }
      }
    }
  }

  /** Whether the memory of a variable is read after a step, under whatever name. */
  isReadAfter(place: Place, variable: VarExpr): boolean {
    const names = this.#aliases.namesOf(variable);
    const places = new Set([place]);
    for (const { root, step } of places) {
      const { lastUse } = this.#blocks.of(root);
      if (names.some((name) => (lastUse.get(name) ?? -1) > step)) return true;
      for (const outer of this.#around.get(root) ?? []) places.add(outer);
    }
    return false;
  }
}
