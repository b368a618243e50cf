import { internalError, UnsupportedError } from '../../../core/errors.ts';
import { computedDType } from '../../../core/tensor/dtype.ts';
import { elementCount, rowMajorStrides, type Shape } from '../../../core/tensor/shape.ts';
import { renderScalar } from '../../../ops/formula/wgsl/render-scalar.ts';
import type { IndexNode } from '../../../ops/index-expression/expression.ts';
import { analyzeIndexMap, type MapLayout } from '../../../ops/index-expression/index-map-layout.ts';
import { type LeafNode, OPERAND, renderIndex } from '../../../ops/index-expression/render-wgsl.ts';
import { type Broadcast, classifyBroadcast, padRank } from './broadcast.ts';
import { type ElementType, literal, vectorType, wrapped } from './element-type.ts';
import { FLOAT16_BITS, ROUND_TO_FLOAT16 } from '../../../ops/formula/wgsl/float16-bits.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { type Position, Scope, valueKey } from './scope.ts';
import type { ShaderBuilder } from './shader-builder.ts';
import { readElement } from './storage-access.ts';
import type { TypedCall } from './typed-primitive.ts';

/**
 * Writes the expressions of values on demand: a stored value is read from its buffer, an elementwise
 * call is computed in place, an injective one becomes a map of indices.
 */
export class ValueEmitter {
  readonly #plan: PlanBuilder;
  readonly #shader: ShaderBuilder;
  /** Of positions that were made of coordinates: shape and name, and these. */
  readonly #coordsOf = new Map<string, readonly string[]>();
  /** Blocks like the one that is written, of which one is chosen. */
  #sourceCount = 1;

  constructor(plan: PlanBuilder, shader: ShaderBuilder) {
    this.#plan = plan;
    this.#shader = shader;
  }

  /** An expression of the value's WGSL type (vec4 of it for width 4) at a position. */
  emit(value: number, at: Position, scope: Scope): string {
    return scope.once(valueKey(value, at), () => {
      const buffer = this.#plan.storedIn(value);
      if (buffer !== undefined) {
        const { dtype } = this.#plan.type(value);
        const access = { buffer, dtype, width: at.width, index: at.linear };
        const isInPlace = value === this.#plan.inPlace;
        if (isInPlace && at.linear !== 'i') throw readElsewhere(this.#plan.name, value);
        const element = readElement(this.#shader, access, isInPlace ? 'read_write' : 'read');
        return scope.let(this.#shader.uniqueName('v'), element);
      }
      const call = this.#plan.callOf(value);
      if (call.op.kind === 'elementwise') return this.#elementwise(call, at, scope);
      return this.#injective(call, at, scope);
    });
  }

  #elementwise(call: TypedCall, at: Position, scope: Scope): string {
    const scalar = call.op.scalar;
    if (scalar === undefined) throw internalError(`${call.op.name} has no scalar function`);
    const isWide = [...call.inputs, call.value].some(
      (value) => this.#plan.elementType(value) === 'i64',
    );
    if (at.width === 4 && isWide) {
      return this.#perLane(call.value, { at, scope }, (lane, inner) =>
        this.#elementwise(call, lane, inner),
      );
    }
    const operands = call.inputs.map((input) => this.#operand(input, call.value, { at, scope }));
    const types = call.inputs.map((input) => this.#plan.type(input).dtype);
    const output = this.#plan.type(call.value).dtype;
    const context = {
      attributes: call.attributes,
      dtypes: types.map(computedDType),
      output: computedDType(output),
    };
    const result = renderScalar(scalar, context, {
      operands,
      width: at.width,
      bind: (text) => scope.let(this.#shader.uniqueName('v'), text),
      declare: (name, text) => this.#shader.declare(name, text),
    });
    const expression =
      output === 'float16' && !types.includes('float16')
        ? this.#roundedToFloat16(result, at.width)
        : wrapped(output, at.width, result);
    return scope.let(this.#shader.uniqueName('v'), expression);
  }

  /** A conversion rounds; what stays float16 keeps the precision of f32 until it is stored. */
  #roundedToFloat16(expression: string, width: 1 | 4): string {
    this.#shader.declare(`half_bits${width}`, FLOAT16_BITS[width]);
    this.#shader.declare(`round_half${width}`, ROUND_TO_FLOAT16[width]);
    return `round_half${width}(${expression})`;
  }

  /** An operand of an elementwise call, broadcast to the call's shape. */
  #operand(input: number, result: number, { at, scope }: EmitContext): string {
    const from = this.#plan.type(input).shape;
    const to = this.#plan.type(result).shape;
    const broadcast = classifyBroadcast(from, to);
    if (broadcast.kind === 'same') return this.emit(input, at, scope);
    const key = `operand ${input} of ${to.join()} ${at.width} ${at.linear}`;
    return scope.once(key, () => this.#broadcast({ input, from, to, broadcast }, { at, scope }));
  }

  #broadcast(operand: BroadcastOperand, { at, scope }: EmitContext): string {
    const { input, to, broadcast } = operand;
    const splat = (linear: string) => {
      const element = this.emit(input, { linear, width: 1 }, scope);
      return at.width === 1
        ? element
        : `${vectorType(this.#plan.elementType(input), 4)}(${element})`;
    };
    if (broadcast.kind === 'scalar') return splat('0u');
    if (broadcast.kind === 'run') {
      const { inner, size } = broadcast;
      if (inner % at.width === 0) {
        const index = this.#runIndex(at.linear, { ...broadcast, inner: inner / at.width });
        return splat(scope.let(this.#shader.uniqueName('i'), index));
      }
      if (inner === 1 && size % 4 === 0) {
        const index = this.#runIndex(at.linear, { ...broadcast, size: size / 4 });
        const linear = scope.let(this.#shader.uniqueName('i'), index);
        return this.emit(input, { linear, width: 4 }, scope);
      }
    } else if (at.width === 1 || (to.at(-1) ?? 1) % 4 === 0) {
      return this.#strided(operand, { at, scope }, splat);
    }
    return this.#perLane(input, { at, scope }, (lane, inner) =>
      this.#broadcast(operand, { at: lane, scope: inner }),
    );
  }

  #runIndex(linear: string, run: Broadcast & { kind: 'run' }): string {
    const divided =
      run.inner === 1 ? linear : `${linear} / ${this.#shader.param(run.inner, 'u32')}`;
    return run.isFirst ? divided : `(${divided}) % ${this.#shader.param(run.size, 'u32')}`;
  }

  /** A broadcast along several separate axes. */
  #strided(
    { input, from, to }: BroadcastOperand,
    { at, scope }: EmitContext,
    splat: (linear: string) => string,
  ): string {
    const padded = padRank(from, to.length);
    const isVector = at.width === 4 && padded.at(-1) !== 1;
    const coords = this.#coords(at.linear, grouped(to, at.width), scope);
    const strides = rowMajorStrides(grouped(padded, isVector ? 4 : 1));
    const terms = coords.flatMap((coord, axis) =>
      padded[axis] === 1 ? [] : [this.#term(coord, strides[axis] ?? 1, axis === to.length - 1)],
    );
    const linear = scope.let(this.#shader.uniqueName('i'), terms.join(' + '));
    return isVector || at.width === 1
      ? this.emit(input, { linear, width: at.width }, scope)
      : splat(linear);
  }

  #injective(call: TypedCall, at: Position, scope: Scope): string {
    const map = call.op.indexMap;
    if (map === undefined) throw internalError(`${call.op.name} has no index map`);
    if (map.keepsOrder === true) return this.emit(call.inputs[0] ?? 0, at, scope);
    const output = this.#plan.type(call.value);
    const inputs = call.inputs.map((input) => this.#plan.type(input));
    const layout = analyzeIndexMap(map, { attributes: call.attributes, inputs, output });
    if (at.width === 4 && !layout.isVectorizable) {
      return this.#perLane(call.value, { at, scope }, (lane, inner) =>
        this.#mapped(call, layout, { at: lane, scope: inner }),
      );
    }
    return this.#mapped(call, layout, { at, scope });
  }

  #mapped(call: TypedCall, layout: MapLayout, { at, scope }: EmitContext): string {
    const { shape } = this.#plan.type(call.value);
    const { trailingAxes, innerSize } = layout;
    const inner = trailingAxes > 0 ? [innerSize / at.width] : [];
    const outer = shape.slice(0, shape.length - trailingAxes);
    const coords = this.#coords(at.linear, [...outer, ...inner], scope);
    const read = ({ input, coords: from }: SourceText, block: Scope) => {
      const value = call.inputs[input] ?? 0;
      const { shape } = this.#plan.type(value);
      const axes = shape.length - trailingAxes;
      const known = from.slice(0, axes + inner.length);
      const strides = rowMajorStrides(shape);
      const terms = known.map((coord, axis) => {
        if (axis === axes) return coord;
        return this.#term(coord, (strides[axis] ?? 1) / at.width, axis === shape.length - 1);
      });
      const linear = block.let(this.#shader.uniqueName('i'), terms.join(' + ') || '0u');
      this.#coordsOf.set(`${[...shape.slice(0, axes), ...inner].join()} ${linear}`, known);
      return this.emit(value, { linear, width: at.width }, block);
    };
    const sources = this.#sourceTexts(call, layout, { coords, scope });
    const only = sources[0];
    if (only !== undefined && only.when === undefined) return read(only, scope);
    return this.#choose(call, { sources, read, at, scope });
  }

  /** The sources in WGSL. Of axes that are counted as one, the first has the coordinate. */
  #sourceTexts(
    call: TypedCall,
    { values, sources }: MapLayout,
    { coords, scope }: { coords: readonly string[]; scope: Scope },
  ): SourceText[] {
    const texts = new Map<LeafNode, string>();
    const leaf = (node: LeafNode) =>
      (node.kind === 'coordinate' ? coords[node.axis] : texts.get(node)) ?? '0u';
    const places = (nodes: readonly IndexNode[]) =>
      nodes.map((node) => renderIndex(node, leaf, OPERAND));
    for (const node of values) {
      texts.set(
        node,
        node.kind === 'parameter'
          ? this.#shader.param(node.value, node.type)
          : this.#integer(call.inputs[node.input] ?? 0, places(node.operands), scope),
      );
    }
    return sources.map(({ input, coords, when }) => ({
      input,
      coords: places(coords),
      when: when && renderIndex(when, leaf),
    }));
  }

  /** An element of a tensor of integers as an i32. */
  #integer(value: number, coords: readonly string[], scope: Scope): string {
    const { shape } = this.#plan.type(value);
    const strides = rowMajorStrides(shape);
    const terms = coords.map((coord, axis) =>
      this.#term(coord, strides[axis] ?? 1, axis === shape.length - 1),
    );
    const linear = scope.let(this.#shader.uniqueName('i'), terms.join(' + ') || '0u');
    const element = this.emit(value, { linear, width: 1 }, scope);
    if (this.#plan.elementType(value) !== 'i64') return element;
    this.#shader.declare('saturate_i64', SATURATE_I64);
    return scope.let(this.#shader.uniqueName('n'), `saturate_i64(${element})`);
  }

  /** The first source whose condition holds, else the fill value. */
  #choose(call: TypedCall, choice: Choice): string {
    const { sources, read, at, scope } = choice;
    const type = this.#plan.elementType(call.value);
    const result = this.#shader.uniqueName('v');
    const fill = this.#constant(type, call.op.indexMap?.fill?.(call.attributes) ?? 0);
    scope.lines.push(`var ${result} = ${vectorType(type, at.width)}(${fill});`);
    let keyword = 'if';
    const outer = this.#sourceCount;
    this.#sourceCount *= sources.length;
    for (const source of sources) {
      const block = new Scope(scope);
      block.lines.push(`${result} = ${read(source, block)};`);
      scope.block(source.when === undefined ? 'else' : `${keyword} (${source.when})`, block);
      if (source.when === undefined) break;
      keyword = 'else if';
    }
    this.#sourceCount = outer;
    return result;
  }

  #term(coord: string, stride: number, isLast: boolean): string {
    return isLast ? `(${coord})` : `(${coord}) * ${this.#shader.param(stride, 'u32')}`;
  }

  /** Coordinates of a row-major position, outermost first. */
  #coords(linear: string, shape: Shape, scope: Scope): string[] {
    const key = `${shape.join()} ${linear}`;
    const make = () =>
      this.#coordsOf
        .get(key)
        ?.map((at) => (/\W/.test(at) ? scope.let(this.#shader.uniqueName('c'), at) : at)) ??
      this.#splitIndex(linear, shape, scope);
    const joined = scope.once(`coords ${key}`, () => make().join());
    return joined === '' ? [] : joined.split(',');
  }

  #splitIndex(linear: string, shape: Shape, scope: Scope): string[] {
    const coords: string[] = [];
    let rest = linear;
    for (let axis = shape.length - 1; axis > 0; axis--) {
      const size = this.#shader.param(shape[axis] ?? 1, 'u32');
      const outer = scope.let(this.#shader.uniqueName('c'), `${rest} / ${size}`);
      coords.unshift(scope.let(this.#shader.uniqueName('c'), `${rest} - ${outer} * ${size}`));
      rest = outer;
    }
    return shape.length === 0 ? [] : [rest, ...coords];
  }

  /** Four scalar computations, in a function of their own, for what has no vector form. */
  #perLane(
    value: number,
    { at, scope }: EmitContext,
    emit: (lane: Position, scope: Scope) => string,
  ): string {
    const type = this.#plan.elementType(value);
    const name = this.#shader.uniqueName('element');
    const body = new Scope();
    const result = emit({ linear: 'i', width: 1 }, body);
    const lines = [
      `fn ${name}(i: u32) -> ${type} {`,
      ...body.indented(),
      `  return ${result};`,
      '}',
    ];
    this.#shader.addFunction(lines.join('\n'));
    if (this.#loopsOverLanes(value, body)) {
      this.#shader.addFunction(loopOverLanes(name, vectorType(type, 4)));
      return scope.let(this.#shader.uniqueName('v'), `${name}_four(${at.linear} * 4u)`);
    }
    const lanes = [0, 1, 2, 3].map((lane) => `${name}(${at.linear} * 4u + ${lane}u)`);
    // An operator may name its operand many times.
    return scope.let(this.#shader.uniqueName('v'), `${vectorType(type, 4)}(${lanes.join(', ')})`);
  }

  #loopsOverLanes(value: number, { lines }: Scope): boolean {
    if (this.#plan.caps.adapterClass !== 'software') return false;
    const elements = elementCount(this.#plan.type(value).shape);
    const isSmall = this.#plan.hasFixedShapes && elements <= LOOPED_ELEMENTS;
    const divisionCount = lines.filter((line) => line.includes('/')).length * this.#sourceCount;
    return divisionCount >= (isSmall ? 4 : 8);
  }

  #constant(type: ElementType, value: number): string {
    const isLiteral = Number.isFinite(value) && !Object.is(value, -0);
    if (type === 'f32' && !isLiteral) return this.#shader.param(value, 'f32');
    return literal(type, value);
  }
}

/**
 * SwiftShader inlines what is called, and compiles each division lane by lane: code with four of them
 * compiles three times faster as a loop, which then takes 1.3 times as long; code with eight runs no slower.
 */
const LOOPED_ELEMENTS = 4096;

function loopOverLanes(name: string, type: string): string {
  return `fn ${name}_four(first: u32) -> ${type} {
  var all = ${type}();
  for (var lane = 0u; lane < 4u; lane++) {
    all = ${type}(all.yzw, ${name}(first + lane));
  }
  return all;
}`;
}

/** A declaration of an executable that does not hold. */
function readElsewhere(kernel: string, value: number): UnsupportedError {
  return new UnsupportedError({
    where: `kernel ${kernel}`,
    got: `%${value} read at other places than those where the result is written`,
    expected: 'a parameter that may be changed in place',
    remedy: 'Compile the program again.',
  });
}

const SATURATE_I64 = `fn saturate_i64(x: vec2<u32>) -> i32 {
  let low = bitcast<i32>(x.x);
  let high = bitcast<i32>(x.y);
  return select((high >> 31u) ^ 2147483647, low, high == low >> 31u);
}`;

interface EmitContext {
  readonly at: Position;
  readonly scope: Scope;
}

interface BroadcastOperand {
  readonly input: number;
  readonly from: Shape;
  readonly to: Shape;
  readonly broadcast: Broadcast;
}

interface Choice extends EmitContext {
  readonly sources: readonly SourceText[];
  readonly read: (source: SourceText, block: Scope) => string;
}

/** A source of a map, its places as WGSL expressions. */
interface SourceText {
  readonly input: number;
  readonly coords: readonly string[];
  readonly when: string | undefined;
}

function grouped(shape: Shape, width: 1 | 4): number[] {
  return shape.map((dim, axis) => (axis === shape.length - 1 ? dim / width : dim));
}
