import { call, constant } from '../../compiler/ir/build.ts';
import type { CallExpr, Expr, Module } from '../../compiler/ir/expr.ts';
import { rewriteBodies } from '../../compiler/ir/walk/visit.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';

/** Numbers in a row, and the most rows: up to a million. */
const [ROW, ROWS] = [256, 4096];

/**
 * Counts on the device where a program casts what `arange` gives to 32 bits: that operator computes int64 on the host, and a step of a
 * text would wait for as many numbers as a cache has positions, and send them.
 */
export function countOnDevice(module: Module): Module {
  return rewriteBodies(module, (expr) => {
    const size = countedSize(expr);
    return size === undefined ? expr : call('cast', [countUp(size)], { to: dtypeOf(expr) });
  });
}

function dtypeOf(expr: Expr): string {
  const to = expr.kind === 'call' ? expr.attributes['to'] : undefined;
  return typeof to === 'string' ? to : 'none';
}

const operatorCall = (expr: Expr | undefined, name: string): CallExpr | undefined => {
  const isCall = expr?.kind === 'call' && expr.callee.kind === 'operator';
  return isCall && expr.callee.name === name ? expr : undefined;
};

/** The size of numbers from 0 up that are cast to 32 bits. */
function countedSize(expr: Expr): Dim | undefined {
  const cast = operatorCall(expr, 'cast');
  if (cast === undefined || !['int32', 'uint32'].includes(dtypeOf(cast))) return undefined;
  const { start, size, step = 1 } = operatorCall(cast.args[0], 'arange')?.attributes ?? {};
  const isPlain = Array.isArray(start) && start[0] === 0 && step === 1 && Array.isArray(size);
  const dim: Dim | undefined = isPlain ? size[0] : undefined;
  return typeof dim === 'number' && dim > ROW * ROWS ? undefined : dim;
}

/** The integers from 0 up to a size, int32 (size,), of two small tables. */
function countUp(size: Dim): Expr {
  const above: Dim = { op: 'add', left: size, right: ROW - 1 };
  const rows: Dim =
    typeof size === 'number' ? Math.ceil(size / ROW) : { op: 'floordiv', left: above, right: ROW };
  const all: Dim = typeof rows === 'number' ? rows * ROW : { op: 'mul', left: rows, right: ROW };
  const table = (count: number, step: number): Expr =>
    constant(
      HostTensor.from(
        'int32',
        [count],
        Array.from({ length: count }, (_, i) => i * step),
      ),
    );
  const upper = call('slice', [table(ROWS, ROW)], { starts: [0], ends: [rows] });
  const sum = call('add', [call('reshape', [upper], { shape: [rows, 1] }), table(ROW, 1)]);
  return call('slice', [call('reshape', [sum], { shape: [all] })], { starts: [0], ends: [size] });
}
