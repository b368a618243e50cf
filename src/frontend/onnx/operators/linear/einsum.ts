import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';

/** A tensor with a label for each axis, no label twice. */
interface Labelled {
  readonly expr: Expr;
  readonly labels: readonly string[];
}

interface Equation {
  /** Labels of each input; those of an ellipsis are numbers, counted from the last axis on. */
  readonly inputs: readonly (readonly string[])[];
  readonly output: readonly string[];
}

/**
 * Einstein's sum as diagonals, sums and products of two operands at a time, from the left: labels
 * that nobody needs any more are summed over as soon as possible.
 */
export function importEinsum(node: ImportNode): Expr {
  const operands = node.allInputs();
  const { inputs, output } = parseEquation(node, operands);
  const terms = operands.map((expr, i) => takeDiagonals(node, expr, inputs[i] ?? []));
  let [result] = terms;
  if (result === undefined) throw node.malformed('no inputs', 'at least one');
  for (const [i, term] of terms.slice(1).entries()) {
    const needed = new Set([...output, ...terms.slice(i + 2).flatMap(({ labels }) => labels)]);
    result = contract(node, result, { right: term, needed });
  }
  result = sumOut(node, result, (label) => output.includes(label));
  const missing = output.find((label) => !result.labels.includes(label));
  if (missing !== undefined)
    throw node.malformed(`label ${missing} in the result`, 'one of inputs');
  return permuted(node, result, output);
}

function parseEquation(node: ImportNode, operands: readonly Expr[]): Equation {
  const equation = node.attributes.string('equation', '').replaceAll(/\s/g, '');
  const [left = '', right] = equation.split('->');
  const terms = left.split(',');
  if (terms.length !== operands.length) {
    throw node.malformed(`equation "${equation}" for ${operands.length} inputs`, 'a term for each');
  }
  const inputs = terms.map((term, i) => {
    const rank = node.shape(operands[i] ?? node.input(0)).length;
    const labels = expandEllipsis(node, term, rank - term.replace('...', '').length);
    if (labels.length === rank) return labels;
    throw node.malformed(`"${term}" for an input of rank ${rank}`, 'a label for each axis');
  });
  const hidden = Math.max(0, ...inputs.map((labels) => labels.filter(isHidden).length));
  if (right === undefined) return { inputs, output: implicitOutput(inputs, hidden) };
  const output = expandEllipsis(node, right, hidden);
  if (new Set(output).size === output.length) return { inputs, output };
  throw node.malformed(`"${right}" as the result`, 'each label once');
}

function isHidden(label: string): boolean {
  return /^\d/.test(label);
}

function expandEllipsis(node: ImportNode, term: string, hidden: number): string[] {
  if (!/^[A-Za-z]*(\.\.\.)?[A-Za-z]*$/.test(term)) {
    throw node.malformed(`"${term}" in the equation`, 'letters, and an ellipsis at most');
  }
  const [before = '', after] = term.split('...');
  if (after === undefined) return before.split('');
  const axes = Array.from({ length: Math.max(0, hidden) }, (_, i) => String(hidden - 1 - i));
  return [...before.split(''), ...axes, ...after.split('')];
}

/** The axes of ellipses, then all labels that stand only once, in order. */
function implicitOutput(inputs: Equation['inputs'], hidden: number): string[] {
  const all = inputs.flat();
  const once = all.filter((label) => all.indexOf(label) === all.lastIndexOf(label));
  const axes = Array.from({ length: hidden }, (_, i) => String(hidden - 1 - i));
  return [...axes, ...once.filter((label) => !isHidden(label)).sort()];
}

/** Takes the diagonal of axes that share a label. */
function takeDiagonals(node: ImportNode, expr: Expr, labels: readonly string[]): Labelled {
  const second = labels.findIndex((label, axis) => labels.indexOf(label) < axis);
  if (second < 0) return { expr, labels };
  const first = labels.indexOf(labels[second] ?? '');
  const others = [...labels.keys()].filter((axis) => axis !== first && axis !== second);
  const shape = node.shape(expr);
  const lead = others.map((axis) => shape[axis] ?? 1);
  const size = shape[first] ?? 1;
  const { dims } = node;
  const moved = node.call('transpose', [expr], { perm: [...others, first, second] });
  const flat = node.reshape(moved, [...lead, dims.mul(size, size)]);
  // With one more element in each row, the diagonal is a column.
  const none = new Array<Dim>(lead.length).fill(0);
  const longer = node.call('pad', [flat], { pads: [...none, 0, ...none, size] });
  const rows = node.reshape(longer, [...lead, size, dims.add(size, 1)]);
  const column = node.call('slice', [rows], {
    starts: [...none, 0, 0],
    ends: [...lead, size, 1],
    steps: new Array<number>(lead.length + 2).fill(1),
  });
  const rest = [...others.map((axis) => labels[axis] ?? ''), labels[first] ?? ''];
  return takeDiagonals(node, node.reshape(column, [...lead, size]), rest);
}

function sumOut(
  node: ImportNode,
  { expr, labels }: Labelled,
  isNeeded: (label: string) => boolean,
): Labelled {
  const axes = [...labels.keys()].filter((axis) => !isNeeded(labels[axis] ?? ''));
  if (axes.length === 0) return { expr, labels };
  const sum = node.call('reduce_sum', [expr], { axes, keepdims: false });
  return { expr: sum, labels: labels.filter(isNeeded) };
}

function permuted(node: ImportNode, { expr, labels }: Labelled, order: readonly string[]): Expr {
  const perm = order.map((label) => labels.indexOf(label));
  return perm.every((from, to) => from === to) ? expr : node.call('transpose', [expr], { perm });
}

/** Leaves out axes of size 1 that the other operand repeats along. */
function squeezed(node: ImportNode, term: Labelled, other: Labelled): Labelled {
  const shape = node.shape(term.expr);
  const otherShape = node.shape(other.expr);
  const kept = term.labels.filter((label, axis) => {
    const there = other.labels.indexOf(label);
    return shape[axis] !== 1 || there < 0 || otherShape[there] === 1;
  });
  if (kept.length === term.labels.length) return term;
  const dims = kept.map((label) => shape[term.labels.indexOf(label)] ?? 1);
  return { expr: node.reshape(term.expr, dims), labels: kept };
}

/** The product of two operands, summed over labels that both have and nobody needs. */
function contract(
  node: ImportNode,
  first: Labelled,
  { right: second, needed }: { readonly right: Labelled; readonly needed: ReadonlySet<string> },
): Labelled {
  const without = (term: Labelled, other: Labelled) =>
    sumOut(
      node,
      squeezed(node, term, other),
      (label) => needed.has(label) || other.labels.includes(label),
    );
  const left = without(first, second);
  const right = without(second, first);
  const isShared = (label: string) => left.labels.includes(label) && right.labels.includes(label);
  const batch = left.labels.filter((label) => isShared(label) && needed.has(label));
  const summed = left.labels.filter((label) => isShared(label) && !needed.has(label));
  const rows = left.labels.filter((label) => !isShared(label));
  const columns = right.labels.filter((label) => !isShared(label));
  const sizes = (term: Labelled, labels: readonly string[]): Dim[] =>
    labels.map((label) => node.shape(term.expr)[term.labels.indexOf(label)] ?? 1);
  const count = (shape: readonly Dim[]): Dim => countElements(shape, node.dims);
  const lead = sizes(left, batch);
  const a = permuted(node, left, [...batch, ...rows, ...summed]);
  const b = permuted(node, right, [...batch, ...summed, ...columns]);
  const depth = count(sizes(left, summed));
  const [m, n] = [count(sizes(left, rows)), count(sizes(right, columns))];
  const product = multiplyAndSum(
    node,
    node.reshape(a, [...lead, m, depth]),
    node.reshape(b, [...lead, depth, n]),
  );
  return {
    expr: node.reshape(product, [...lead, ...sizes(left, rows), ...sizes(right, columns)]),
    labels: [...batch, ...rows, ...columns],
  };
}

/**
 * The matrix product (..., m, k) by (..., k, n): one kernel for floats, an outer product and a sum
 * for integers, and a product of elements where k is 1.
 */
function multiplyAndSum(node: ImportNode, a: Expr, b: Expr): Expr {
  if (node.shape(a).at(-1) === 1) return node.call('mul', [a, b]);
  if (node.type(a).dtype.startsWith('float')) return node.call('matmul', [a, b]);
  const [aShape, bShape] = [node.shape(a), node.shape(b)];
  const left = node.reshape(a, [...aShape, 1]);
  const right = node.reshape(b, [...bShape.slice(0, -2), 1, ...bShape.slice(-2)]);
  const products = node.call('mul', [left, right]);
  const axis = node.shape(products).length - 2;
  return node.call('reduce_sum', [products], { axes: [axis], keepdims: false });
}

/** The matrix product with numpy's rules: a vector is a row on the left, a column on the right. */
export function multiply(node: ImportNode, a: Expr, b: Expr): Expr {
  if (node.type(a).dtype.startsWith('float')) return node.call('matmul', [a, b]);
  const [aShape, bShape] = [node.shape(a), node.shape(b)];
  const isRow = aShape.length === 1;
  const isColumn = bShape.length === 1;
  const left = isRow ? node.reshape(a, [1, ...aShape]) : a;
  const right = isColumn ? node.reshape(b, [...bShape, 1]) : b;
  const product = multiplyAndSum(node, left, right);
  const shape = node.shape(product);
  const kept = shape.slice(0, -2);
  if (!isRow) kept.push(shape.at(-2) ?? 1);
  if (!isColumn) kept.push(shape.at(-1) ?? 1);
  return isRow || isColumn ? node.reshape(product, kept) : product;
}
