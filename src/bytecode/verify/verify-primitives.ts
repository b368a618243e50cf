import { formatDim } from '../../core/dims/dim.ts';
import { brokenRule } from './broken-rule.ts';
import type {
  AttributeValue,
  OperatorCall,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { attributeKind } from '../file/file-format.ts';
import { verifyName, verifyText } from './verify-text.ts';
import { verifyDim, verifyTensorType } from './verify-types.ts';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Checks the structure of primitive functions: types, names, and that every value is defined
 * before it is used. Which operators there are, and what they take, is known to devices.
 */
export function verifyPrimitives(primitives: readonly PrimitiveFunction[]): void {
  for (const primitive of primitives) verifyPrimitive(primitive);
}

function verifyPrimitive(primitive: PrimitiveFunction): void {
  const { name, params, body, results } = primitive;
  const where = `primitive ${name}`;
  for (const type of params) verifyTensorType(type, where);
  for (const [position, call] of body.entries()) {
    const valueCount = params.length + position;
    verifyOperatorCall(call, valueCount, `${where}, value %${valueCount} (${call.op})`);
  }
  const valueCount = params.length + body.length;
  if (results.length === 0) {
    throw brokenRule(where, 'no results', 'at least one');
  }
  const written = new Set<number>();
  for (const { value, type } of results) {
    verifyTensorType(type, where);
    if (results.length > 1 && type.shape.includes('?')) {
      throw brokenRule(
        where,
        `${results.length} results, one of unknown size`,
        'no other beside a result of unknown size',
      );
    }
    const isOfCall = Number.isInteger(value) && value >= params.length && value < valueCount;
    if (isOfCall && !written.has(value)) {
      written.add(value);
      continue;
    }
    throw brokenRule(
      where,
      `result %${value}${isOfCall ? ' twice' : ''}`,
      isOfCall ? 'each once' : `a value of one of its ${body.length} operator calls`,
    );
  }
  verifyInPlace(primitive, where);
}

function verifyInPlace({ params, results, inPlace }: PrimitiveFunction, where: string): void {
  if (inPlace === undefined) return;
  const [param, result] = [params[inPlace], results[0]?.type];
  const isSame =
    param?.dtype === result?.dtype &&
    param?.shape.map(formatDim).join() === result?.shape.map(formatDim).join();
  if (param !== undefined && results.length === 1 && isSame && !param.shape.includes('?')) return;
  throw brokenRule(
    where,
    `%${inPlace} as the memory of its result`,
    'one result, and a parameter of its type',
  );
}

function verifyOperatorCall(call: OperatorCall, valueCount: number, where: string): void {
  verifyIdentifier(call.op, 'operator', where);
  for (const input of call.inputs) {
    if (Number.isInteger(input) && input >= -1 && input < valueCount) continue;
    throw brokenRule(where, `input %${input}`, `-1, or a value before %${valueCount}`);
  }
  for (const [name, value] of Object.entries(call.attributes)) {
    verifyIdentifier(name, 'attribute', where);
    verifyAttribute(value, `${where}, attribute ${name}`);
  }
}

function verifyIdentifier(name: string, what: string, where: string): void {
  verifyName(name, where);
  // An object with a key `__proto__` is a trap for every later copy of the attributes.
  if (IDENTIFIER.test(name) && name !== '__proto__') return;
  throw brokenRule(where, `${what} ${JSON.stringify(name)}`, 'an identifier');
}

function verifyAttribute(value: AttributeValue, where: string): void {
  if (typeof value === 'string') return verifyText(value, where);
  if (typeof value !== 'object') return;
  const isDims = attributeKind(value) === 'dims';
  for (const item of value) {
    if (isDims) verifyDim(item, where, 0);
    else if (typeof item === 'string') verifyText(item, where);
  }
}
