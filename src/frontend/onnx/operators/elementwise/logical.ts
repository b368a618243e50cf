import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
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

export const LOGICAL_IMPORTERS: OperatorImporters = {
  And: { since: 1, ...binary('bitwise_and') },
  BitShift: since(11, 'shift_left shift_right', importBitShift),
  BitwiseAnd: { since: 18, ...variadic('bitwise_and') },
  BitwiseNot: { since: 18, ...unary('bitwise_not') },
  BitwiseOr: { since: 18, ...variadic('bitwise_or') },
  BitwiseXor: { since: 18, ...variadic('bitwise_xor') },
  Equal: { since: 1, ...binary('equal') },
  Greater: { since: 1, ...binary('greater') },
  GreaterOrEqual: { since: 12, ...binary('greater_equal') },
  IsInf: since(10, 'abs is_positive_infinity neg broadcast_to', importIsInf),
  IsNaN: { since: 9, ...unary('is_nan') },
  Less: { since: 1, ...binary('less') },
  LessOrEqual: { since: 12, ...binary('less_equal') },
  Not: { since: 1, ...unary('logical_not') },
  Or: { since: 1, ...binary('bitwise_or') },
  Where: since(9, 'where', importWhere),
  Xor: { since: 1, ...binary('bitwise_xor') },
};
