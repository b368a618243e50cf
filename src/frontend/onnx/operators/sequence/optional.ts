import * as ir from '../../../../compiler/ir/build.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { tensorType } from '../../../../compiler/ir/type.ts';
import { OPEN_TYPE } from '../../composite-values.ts';
import { declaredDataType } from '../../declared-type.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { bindData, runningData, takenOut } from './running-sequence.ts';

function importOptional(node: ImportNode): Expr {
  const [element] = node.inputs;
  const declared = node.attributes.type('type');
  if (element === undefined && declared === undefined) {
    throw node.malformed('neither an input nor a type', 'one of them');
  }
  const type = declaredDataType(declared, node.where) ?? OPEN_TYPE;
  return node.compositeResult({ kind: 'optional', element, type });
}

/** Returns true for an optional value; others are always present. */
function isOptional(node: ImportNode, value: Expr): boolean {
  const type = node.dataType(value);
  return type.kind === 'adt' && type.name === 'Option';
}

function importHasElement(node: ImportNode): Expr {
  const [value] = node.inputs;
  if (value === undefined) return node.scalar(0, 'bool');
  if (!isOptional(node, value)) return node.scalar(1, 'bool');
  const known = node.composite(value);
  if (known !== undefined)
    return node.scalar(known.kind === 'optional' && known.element !== undefined ? 1 : 0, 'bool');
  const given = runningData(node, value, 'Option');
  const has = ir.callFunction(ir.global('sequence.has'), [given.value], node.span);
  const type = tensorType({ dtype: 'bool', shape: [] });
  return bindData(node, ir.ifElse(has, node.scalar(1, 'bool'), node.scalar(0, 'bool')), type);
}

function importGetElement(node: ImportNode): Expr {
  const value = node.input(0);
  if (!isOptional(node, value)) return value;
  const error = node.malformed('an optional value without an element', 'one with it');
  const known = node.composite(value);
  if (known?.kind === 'optional') {
    if (known.element === undefined) throw error;
    return known.element;
  }
  const given = runningData(node, value, 'Option');
  const element = ir.variableOf('element', given.element);
  const taken = ir.match(given.value, [
    [ir.constructorPattern('Some', [element]), element],
    [ir.constructorPattern('None', []), ir.stopOf(error, given.element)],
  ]);
  return takenOut(node, taken, { type: given.element });
}

export const OPTIONAL_IMPORTERS: OperatorImporters = {
  Optional: since(15, '', importOptional),
  OptionalGetElement: since(15, '', importGetElement),
  OptionalHasElement: since(15, '', importHasElement),
};
