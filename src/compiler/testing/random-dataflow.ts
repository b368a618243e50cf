import { elementCount } from '../../core/tensor/shape.ts';
import { call, func, moduleOf, tuple, variable } from '../ir/build.ts';
import type { Expr, Module, VarExpr } from '../ir/expr.ts';

/** A program of calls with static shapes, many of whose values are read more than once. */
export interface RandomDataflow {
  readonly module: Module;
  readonly params: readonly VarExpr[];
}

interface Value {
  readonly expr: Expr;
  readonly shape: readonly number[];
}

const UNARY = ['relu', 'sigmoid', 'tanh', 'neg', 'abs', 'erf'] as const;
const BINARY = ['add', 'sub', 'mul', 'maximum', 'minimum'] as const;

/** Diamonds of elementwise calls around products, reductions, views and moves of data. */
export function randomDataflow(random: () => number, callCount: number): RandomDataflow {
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(list: readonly T[]): T => {
    const item = list[below(list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const params: VarExpr[] = [];
  const param = (shape: readonly number[]): Value => {
    const expr = variable(`v${params.length}`, 'float32', [...shape]);
    params.push(expr);
    return { expr, shape };
  };
  const values = [param([4, 6]), param([4, 6])];
  /** Recent values are read most, so that there are diamonds and chains. */
  const value = (): Value => values[Math.max(0, values.length - 1 - below(4))] ?? pick(values);
  const like = ({ shape }: Value): Value => {
    const same = values.filter((other) => String(other.shape) === String(shape));
    return below(6) === 0 ? param(shape.slice(below(shape.length))) : pick(same);
  };
  const makers: (() => Value)[] = [
    () => unary(value()),
    () => unary(value()),
    () => binary(value()),
    () => binary(value()),
    () => binary(value()),
    () => view(value()),
    () => reduced(value()),
    () => product(value()),
    () => turned(value()),
  ];
  const unary = ({ expr, shape }: Value): Value => ({ expr: call(pick(UNARY), [expr]), shape });
  const binary = (left: Value): Value => ({
    expr: call(pick(BINARY), [left.expr, like(left).expr]),
    shape: left.shape,
  });
  const view = ({ expr, shape }: Value): Value => {
    const size = elementCount(shape);
    const to = pick([[size], [2, size / 2], [...shape].reverse()]);
    return { expr: call('reshape', [expr], { shape: to }), shape: to };
  };
  const reduced = ({ expr, shape }: Value): Value => {
    const mean = call('reduce_mean', [expr], { axes: [shape.length - 1], keepdims: true });
    return pick([
      { expr: call('sub', [expr, mean]), shape },
      { expr: call('softmax', [expr]), shape },
      { expr: call('layer_norm', [expr]), shape },
    ]);
  };
  const product = ({ expr, shape }: Value): Value => {
    const columns = shape.at(-1) ?? 1;
    const weights = param([columns, columns]);
    const scaled = pick([weights.expr, unary(weights).expr]);
    return { expr: call('tanh', [call('matmul', [expr, scaled])]), shape };
  };
  const turned = ({ expr, shape }: Value): Value => {
    const perm = shape.map((_, axis) => shape.length - 1 - axis);
    return { expr: call('transpose', [expr], { perm }), shape: [...shape].reverse() };
  };
  for (let i = 0; i < callCount; i++) values.push(pick(makers)());
  const fields = values.slice(-2).map(({ expr }) => expr);
  return { module: moduleOf({ main: func(params, tuple(fields)) }), params };
}
