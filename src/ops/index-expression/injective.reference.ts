import { internalError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../core/tensor/shape.ts';
import type { IndexSource, OpDefinition } from '../define-op.ts';
import { elementBits, fillElements } from '../elements.ts';
import type { StaticReference } from '../op-reference.ts';
import { operand, present } from '../operand-checks.ts';
import { IndexEvaluator } from './evaluate.ts';
import type { IndexExpression } from './expression.ts';
import { analyzeIndexMap } from './index-map-layout.ts';

/**
 * The reference that follows from the index map of an injective operator. Where runs are short and each
 * place depends on several coordinates, code written for the operator takes a tenth of the time or less.
 */
export function injectiveReference({ name, indexMap: map }: OpDefinition): StaticReference {
  if (map === undefined) throw internalError(`${name} has no index map`);
  return {
    reference(inputs, attributes, output) {
      if (map.keepsOrder === true) {
        elementBits(output).set(elementBits(operand(inputs, 0)));
        return;
      }
      const layout = analyzeIndexMap(map, { attributes, inputs: present(inputs), output });
      const { sources, innerSize } = layout;
      if (sources.every(({ when }) => when !== undefined)) {
        fillElements(output, map.fill?.(attributes) ?? 0);
      }
      if (sources.length === 0 || elementCount(output.shape) === 0) return;
      const shape = output.shape.slice(0, output.shape.length - layout.trailingAxes);
      const evaluator = new IndexEvaluator(shape.length, (index) => {
        const { data, shape } = operand(inputs, index);
        return { elements: data, strides: rowMajorStrides(shape) };
      });
      const runs = { to: elementBits(output), shape, innerSize, evaluator };
      const readers = sources.map((source) =>
        reader(operand(inputs, source.input), source, layout.trailingAxes),
      );
      const [first] = readers;
      const tables = readers.length === 1 && first && axisTables(first, runs);
      if (first !== undefined && tables) moveByAxis(first.elements, tables, runs);
      else moveByPlace(readers, runs);
    },
  };
}

/** Elements of the output that lie beside each other in a source too. */
interface Runs {
  readonly to: Uint32Array;
  /** The axes of the output before those that are one run. */
  readonly shape: Shape;
  readonly innerSize: number;
  readonly evaluator: IndexEvaluator;
}

interface Reader {
  readonly elements: Uint32Array;
  readonly coords: readonly IndexExpression<'u32'>[];
  readonly strides: readonly number[];
  readonly when: IndexExpression<'bool'> | undefined;
}

function reader(tensor: HostTensor, { coords, when }: IndexSource, trailingAxes: number): Reader {
  return {
    elements: elementBits(tensor),
    coords: coords.slice(0, coords.length - trailingAxes),
    strides: rowMajorStrides(tensor.shape),
    when,
  };
}

/** The part of some coordinates in the place of a run's first element. */
function placeOf(
  { coords, strides }: Reader,
  evaluator: IndexEvaluator,
  isPart: (coord: IndexExpression) => boolean = () => true,
): () => number {
  const parts = coords.flatMap((coord, axis) =>
    isPart(coord) ? [{ value: evaluator.watch(coord), stride: strides[axis] ?? 0 }] : [],
  );
  return () => {
    let place = 0;
    for (const { value, stride } of parts) place += value() * stride;
    return place;
  };
}

/**
 * For each axis the part that its coordinates have in a place, -1 where nothing is read. Undefined where
 * a coordinate of the source or a condition depends on several coordinates.
 */
function axisTables(source: Reader, { shape, evaluator }: Runs): Int32Array[] | undefined {
  const { coords, when } = source;
  if (shape.length === 0) return undefined;
  const isAnd = when?.kind === 'operation' && when.operator === '&';
  const conditions = isAnd ? when.operands : when === undefined ? [] : [when];
  if ([...coords, ...conditions].some((e) => evaluator.axesOf(e).length > 1)) return undefined;
  return shape.map((dim, axis) => {
    // Terms that depend on no coordinate are counted with the first axis.
    const isOwn = (e: IndexExpression) => (evaluator.axesOf(e)[0] ?? 0) === axis;
    const place = placeOf(source, evaluator, isOwn);
    const holds = conditions.filter(isOwn).map((e) => evaluator.watch(e));
    return Int32Array.from({ length: dim }, (_, coordinate) => {
      evaluator.move(axis, coordinate);
      return holds.every((condition) => condition() === 1) ? place() : -1;
    });
  });
}

function moveByAxis(from: Uint32Array, tables: readonly Int32Array[], runs: Runs): void {
  const { to, shape, innerSize } = runs;
  const last = tables.at(-1) ?? Int32Array.of(0);
  const strides = rowMajorStrides(shape);
  const rowLength = last.length * innerSize;
  for (let row = 0; row * rowLength < to.length; row++) {
    let rest = row * last.length;
    let base = 0;
    for (let axis = 0; axis < shape.length - 1 && base >= 0; axis++) {
      const stride = strides[axis] ?? 1;
      const coord = Math.floor(rest / stride);
      rest -= coord * stride;
      const place = tables[axis]?.[coord] ?? -1;
      base = place < 0 ? -1 : base + place;
    }
    if (base < 0) continue;
    const begin = row * rowLength;
    for (let i = 0; i < last.length; i++) {
      const place = last[i] ?? -1;
      if (place < 0) continue;
      if (innerSize === 1) to[begin + i] = from[base + place] ?? 0;
      else copyRun(from, to, { begin: base + place, at: begin + i * innerSize, innerSize });
    }
  }
}

/** Asks for every run where it comes from. */
function moveByPlace(readers: readonly Reader[], runs: Runs): void {
  const { to, shape, innerSize, evaluator } = runs;
  const places = readers.map((source) => ({
    elements: source.elements,
    begin: placeOf(source, evaluator),
    when: source.when && evaluator.watch(source.when),
  }));
  const coords = new Array<number>(shape.length).fill(0);
  if (shape.length > 0) evaluator.move(0, 0);
  for (let at = 0; ; at += innerSize) {
    const found = places.find(({ when }) => when === undefined || when() === 1);
    if (found !== undefined) copyRun(found.elements, to, { begin: found.begin(), at, innerSize });
    let axis = shape.length - 1;
    while (axis >= 0 && (coords[axis] ?? 0) + 1 === shape[axis]) coords[axis--] = 0;
    if (axis < 0) return;
    const next = (coords[axis] ?? 0) + 1;
    coords[axis] = next;
    evaluator.move(axis, next);
  }
}

interface Run {
  readonly begin: number;
  readonly at: number;
  readonly innerSize: number;
}

function copyRun(from: Uint32Array, to: Uint32Array, { begin, at, innerSize }: Run): void {
  if (innerSize >= LONG_RUN) {
    to.set(from.subarray(begin, begin + innerSize), at);
    return;
  }
  for (let i = 0; i < innerSize; i++) to[at + i] = from[begin + i] ?? 0;
}

/** From here on a copy of memory takes less time than a loop. */
const LONG_RUN = 32;
