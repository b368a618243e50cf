import type { Expr } from '../../../compiler/ir/expr.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';
import { binary, unary, variadic } from './elementwise.ts';

function importBitShift(node: ImportNode): Expr {
  const direction = node.attributes.string('direction', '');
  if (direction !== 'LEFT' && direction !== 'RIGHT') {
    throw node.malformed(`direction ${JSON.stringify(direction)}`, 'LEFT or RIGHT');
  }
  const op = direction === 'LEFT' ? 'shift_left' : 'shift_right';
  return node.call(op, [node.input(0), node.input(1)]);
}

function importIsInf(node: ImportNode): Expr {
  const x = node.input(0);
  const isNegative = node.attributes.bool('detect_negative', true);
  const isPositive = node.attributes.bool('detect_positive', true);
  if (!isNegative && !isPositive) {
    return node.call('broadcast_to', [node.scalar(0, 'bool')], { shape: node.shape(x) });
  }
  const flipped = !isNegative ? x : node.call(isPositive ? 'abs' : 'neg', [x]);
  return node.call('is_positive_infinity', [flipped]);
}

function importWhere(node: ImportNode): Expr {
  return node.call('where', [node.input(0), node.input(1), node.input(2)]);
}

export const LOGICAL_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  And: binary('bitwise_and'),
  BitShift: importBitShift,
  BitwiseAnd: variadic('bitwise_and'),
  BitwiseNot: unary('bitwise_not'),
  BitwiseOr: variadic('bitwise_or'),
  BitwiseXor: variadic('bitwise_xor'),
  Equal: binary('equal'),
  Greater: binary('greater'),
  GreaterOrEqual: binary('greater_equal'),
  IsInf: importIsInf,
  IsNaN: unary('is_nan'),
  Less: binary('less'),
  LessOrEqual: binary('less_equal'),
  Not: unary('logical_not'),
  Or: binary('bitwise_or'),
  Where: importWhere,
  Xor: binary('bitwise_xor'),
};
