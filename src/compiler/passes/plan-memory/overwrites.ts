import { formatDim } from '../../../core/dims/dim.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { Operators } from '../../../ops/operators.ts';
import { appendAxis, changedAxis } from '../../ir/append-axis.ts';
import { type BlockTable, innerBlocks } from '../../ir/walk/block.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../ir/expr.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { postOrder } from '../../ir/walk/visit.ts';
import { isOperatorCall, operatorName } from '../../ir/operators/operator-name.ts';
import type { TensorAliases } from './tensor-aliases.ts';

/** How a kernel comes by the memory of an input in which its result lies. */
export type Overwrite = OverwrittenMemory & {
  readonly input: number;
  /** True if the kernel does not need the input's memory: the result could have its own. */
  readonly isOptional: boolean;
};

export type OverwrittenMemory =
  /** The input is the result of a kernel of the block, which nothing reads any more. */
  | { readonly kind: 'planned'; readonly kernel: number }
  /** Nothing of the function reads the input any more. The machine finds out if somebody else does. */
  | { readonly kind: 'owned' }
  /** The same as `owned`, where the result is the input with more behind it. */
  | (Append & { readonly kind: 'appended' });

/** How a primitive function extends one of its parameters. */
export interface Append {
  readonly axis: number;
  /** Indices of the parameters that its result has one after the other, which begins with the one that is extended. */
  readonly parts: readonly number[];
}

/** How the result of a primitive function extends a parameter, if that is all it does. */
export function appendOf({ params, body }: FunctionExpr, types: TypeInference): Append | undefined {
  if (!isOperatorCall(body)) return undefined;
  const parts = body.args.map((arg) => params.findIndex((param) => param === arg));
  const [extended = -1, ...others] = parts;
  const param = params[extended];
  const [first, result] = [param && types.of(param), types.of(body)];
  if (first?.kind !== 'tensor' || result.kind !== 'tensor') return undefined;
  if (others.length === 0 || others.includes(extended) || others.includes(-1)) return undefined;
  const op = types.operators.require(body.callee.name);
  const axis = appendAxis({ op, attributes: body.attributes, result }, first);
  return axis === undefined ? undefined : { axis, parts };
}

/** A parameter that a primitive function changes where it lies, also with more elements behind it along an axis. */
interface Change {
  readonly input: number;
  readonly axis: number;
}

export function changeOf(primitive: FunctionExpr, types: TypeInference): Change | undefined {
  const { body } = primitive;
  const input = overwrittenParameter(primitive, types.operators);
  const result = types.of(body);
  if (input === undefined || body.kind !== 'call' || result.kind !== 'tensor') return undefined;
  const op = types.operators.require(operatorName(body));
  const axis = changedAxis({ op, attributes: body.attributes, result });
  return axis === undefined ? undefined : { input, axis };
}

/** The parameter that a primitive function changes in place: that of its only call, if the operator overwrites it. */
export function overwrittenParameter(
  { params, body }: FunctionExpr,
  operators: Operators,
): number | undefined {
  if (!isOperatorCall(body)) return undefined;
  const input = operators.require(body.callee.name).storage?.overwrites;
  const read = input === undefined ? undefined : body.args[input];
  const param = params.findIndex((one) => one === read);
  const isReadOnce = body.args.filter((arg) => arg === read).length === 1;
  return param >= 0 && isReadOnce ? param : undefined;
}

/**
 * Parameters of a primitive function in whose memory its result may lie, since each element is read where that of
 * the result is written: calls of elementwise operators and views alone lead from them to the result. None of these has
 * fewer elements than its operands, so nothing on the way from a parameter of the result's shape is broadcast.
 */
export function parametersInPlace(fn: FunctionExpr, types: TypeInference): number[] {
  const type = types.of(fn.body);
  if (type.kind !== 'tensor' || type.shape.includes('?')) return [];
  for (const expr of postOrder(fn.body)) {
    if (!isOperatorCall(expr)) continue;
    const op = types.operators.require(expr.callee.name);
    if (op.kind !== 'elementwise' && op.indexMap?.keepsOrder !== true) return [];
  }
  return fn.params.flatMap((param, i) => {
    const from = types.of(param);
    const isSame =
      from.kind === 'tensor' &&
      from.dtype === type.dtype &&
      formatShape(from) === formatShape(type);
    return isSame ? [i] : [];
  });
}

function formatShape({ shape }: TensorType): string {
  return shape.map(formatDim).join();
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
  /** Blocks around which nothing reads a variable after them: branches lie thousands deep. */
  readonly #unread = new Map<VarExpr, Set<Expr>>();

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

  /**
   * Returns true if the memory of a variable is read after a step, by any of the variables that
   * share it.
   */
  isReadAfter(place: Place, variable: VarExpr): boolean {
    const names = this.#aliases.namesOf(variable);
    const unread = this.#unread.get(variable) ?? new Set();
    this.#unread.set(variable, unread);
    const places = new Set([place]);
    for (const { root, step } of places) {
      countWork(names.length);
      const { lastUse } = this.#blocks.of(root);
      if (names.some((name) => (lastUse.get(name) ?? -1) > step)) return true;
      if (unread.has(root)) continue;
      for (const outer of this.#around.get(root) ?? []) places.add(outer);
    }
    for (const { root } of places) unread.add(root);
    return false;
  }

  /**
   * Returns true if the value of a block is that of the function: it is in no branch whose value
   * something reads.
   */
  isLast(root: Expr): boolean {
    const roots = new Set([root]);
    for (const inner of roots) {
      for (const outer of this.#around.get(inner) ?? []) {
        if (outer.step < this.#blocks.of(outer.root).steps.length) return false;
        roots.add(outer.root);
      }
    }
    return true;
  }
}
