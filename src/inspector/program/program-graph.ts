import { BUILTIN_PREFIX } from '../../bytecode/builtins.ts';
import type { BytecodeFunction, ExecutableData, FunctionEntry } from '../../bytecode/executable.ts';
import { printTensorType, printValueType } from '../../bytecode/text/print-types.ts';
import { SourceMap } from '../../bytecode/source-map.ts';
import { UsageError } from '../../core/errors.ts';
import type { PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { formatPlace, type SourcePlace } from '../../core/contracts/source-place.ts';
import { type CodeStep, codeSteps } from '../../bytecode/code-steps.ts';

/** A call of a kernel, of a function of the program or of JavaScript, or a value that goes in or out. */
export interface GraphNode {
  readonly kind: 'input' | 'kernel' | 'function' | 'packed' | 'result';
  /** A short name: the node of the source, or else the callee. */
  readonly label: string;
  /** The name of the callee, or of the input or result. */
  readonly name: string;
  /** Operators of a kernel, in order. */
  readonly operators: readonly string[];
  /** Nodes or lines of the source that it computes. */
  readonly places: readonly SourcePlace[];
  /** Scopes that all of these lie in, the outermost first. */
  readonly scope: readonly string[];
  /** The instruction in its function, from 0; undefined for inputs. */
  readonly instruction: number | undefined;
  /** Types of the values that the node gives. */
  readonly types: readonly string[];
  /** Runs on the host whatever device the session is on. */
  readonly isOnHost: boolean;
}

/** Nodes of a function, and which values go from which to which. */
export interface ProgramGraph {
  readonly functionName: string;
  readonly nodes: readonly GraphNode[];
  /** Pairs of nodes: a value of the first is read by the second. */
  readonly edges: readonly (readonly [from: number, to: number])[];
}

/** Nodes that may have written a register. */
type Writers = ReadonlySet<number>;

const NONE: Writers = new Set();

/**
 * The graph of a function of an executable: what computes values, and which reads which. Bookkeeping (allocation, shapes,
 * tuples) has no nodes; values go through it. Where ways join, a value comes from all of them. Throws UsageError for a
 * function that does not exist.
 */
export function programGraph(program: ExecutableData, functionName: string): ProgramGraph {
  const fn = program.functions.find(({ name }) => name === functionName);
  if (fn === undefined) {
    throw new UsageError({
      where: 'inspector',
      got: `the function ${functionName}`,
      expected: `one of ${program.functions.map(({ name }) => name).join(', ')}`,
    });
  }
  return new GraphBuilder(program, fn).build();
}

class GraphBuilder {
  readonly #program: ExecutableData;
  readonly #fn: BytecodeFunction;
  readonly #primitives: ReadonlyMap<string, PrimitiveFunction>;
  readonly #map: SourceMap | undefined;
  readonly #nodes: GraphNode[] = [];
  readonly #nodeOf = new Map<number, number>();
  readonly #edges = new Set<string>();

  constructor(program: ExecutableData, fn: BytecodeFunction) {
    this.#program = program;
    this.#fn = fn;
    this.#primitives = new Map(program.primitives.map((each) => [each.name, each]));
    this.#map = SourceMap.of(program);
  }

  build(): ProgramGraph {
    const fn = this.#fn;
    const inputs = fn.paramNames.map((name, i): readonly [number, Writers] => {
      const type = fn.signature?.params[i];
      const types = type === undefined ? [] : [printValueType(type)];
      const input = { ...PLAIN, kind: 'input' as const, label: name, name, types };
      return [i, new Set([this.#nodes.push(input) - 1])];
    });
    const steps = codeSteps(this.#program, fn);
    for (const [number, step] of steps.entries()) this.#addNode(number, step);
    this.#follow(steps, new Map(inputs));
    const edges = [...this.#edges].map((key) => {
      const [from = 0, to = 0] = key.split(' ').map(Number);
      return [from, to] as const;
    });
    return { functionName: fn.name, nodes: this.#nodes, edges };
  }

  #entry({ callee }: CodeStep): FunctionEntry | undefined {
    return callee === undefined ? undefined : this.#program.functionTable[callee];
  }

  #addNode(instruction: number, step: CodeStep): void {
    const entry = this.#entry(step);
    if (entry?.kind === 'packed' && entry.name.startsWith(BUILTIN_PREFIX)) return;
    if (entry === undefined && step.next.length > 0) return;
    this.#nodeOf.set(instruction, this.#nodes.length);
    const places = this.#map?.at(this.#fn.name, instruction) ?? [];
    const common = { ...PLAIN, places, scope: commonScope(places), instruction };
    if (entry === undefined) {
      const types = this.#fn.signature?.results.map(({ type }) => printValueType(type)) ?? [];
      const names = this.#fn.signature?.results.map(({ name }) => name).join(', ') ?? '';
      this.#nodes.push({ ...common, kind: 'result', label: names || 'result', name: 'ret', types });
      return;
    }
    const { name } = entry;
    const [place] = places;
    const primitive = entry.kind === 'primitive' ? this.#primitives.get(name) : undefined;
    const label = place !== undefined && place.line === undefined ? shortPlace(place) : name;
    if (primitive === undefined) {
      const kind = entry.kind === 'bytecode' ? 'function' : 'packed';
      this.#nodes.push({ ...common, kind, label, name });
      return;
    }
    this.#nodes.push({
      ...common,
      kind: 'kernel',
      label: places.length > 1 && label !== name ? `${label} +${places.length - 1}` : label,
      name,
      operators: primitive.body.map(({ op }) => op),
      types: primitive.results.map(({ type }) => printTensorType(type)),
      isOnHost: primitive.device === 'host',
    });
  }

  /** Goes along all ways until nothing new comes to where ways meet. */
  #follow(steps: readonly CodeStep[], atStart: State): void {
    const waysTo = new Uint32Array(steps.length + 1);
    // The call of the function is a way to its first instruction: a jump back to it is a second one.
    waysTo[0] = 1;
    for (const { next } of steps)
      for (const number of next) waysTo[number] = (waysTo[number] ?? 0) + 1;
    const known = new Map<number, State>();
    const pending: (readonly [number, State])[] = [[0, atStart]];
    for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
      const [number, arriving] = item;
      const step = steps[number];
      if (step === undefined) continue;
      let state = arriving;
      // Each way goes on with a state of its own; it is copied where ways meet or part, and changed elsewhere.
      if ((waysTo[number] ?? 0) > 1) {
        const before = known.get(number);
        const both = before === undefined ? arriving : joined(before, arriving);
        if (both === before) continue;
        known.set(number, both);
        state = new Map(both);
      }
      this.#take(number, step, state);
      for (const [way, next] of step.next.entries()) {
        pending.push([next, way === 0 ? state : new Map(state)]);
      }
    }
  }

  /** Changes the state as an instruction does. */
  #take(number: number, step: CodeStep, state: State): void {
    const entry = this.#entry(step);
    const node = this.#nodeOf.get(number);
    const read = step.reads.map((register) => state.get(register ?? -1) ?? NONE);
    const primitive = entry?.kind === 'primitive' ? this.#primitives.get(entry.name) : undefined;
    const inputs = primitive === undefined ? read : read.slice(0, primitive.params.length);
    if (node === undefined) {
      if (step.writes !== undefined) write(state, step.writes, union(inputs));
      return;
    }
    for (const from of union(inputs)) this.#edges.add(`${from} ${node}`);
    // Behind its inputs a kernel is given the tensors that it writes.
    const given = primitive === undefined ? [] : step.reads.slice(primitive.params.length);
    const self = new Set([node]);
    for (const register of [...given, step.writes]) {
      if (register !== undefined) write(state, register, self);
    }
  }
}

/** Nodes that wrote each register; registers that no node has written are absent. */
type State = Map<number, Writers>;

function write(state: State, register: number, by: Writers): void {
  if (by.size === 0) state.delete(register);
  else state.set(register, by);
}

function union(sets: readonly Writers[]): Writers {
  const [first = NONE, ...others] = sets.filter(({ size }) => size > 0);
  return others.length === 0 ? first : new Set([first, ...others].flatMap((each) => [...each]));
}

/**
 * Joins the states of two ways to an instruction; gives `before` itself if `arriving` adds nothing.
 */
function joined(before: State, arriving: State): State {
  let result: Map<number, Writers> | undefined;
  for (const [register, writers] of arriving) {
    const own = before.get(register) ?? NONE;
    if ([...writers].every((writer) => own.has(writer))) continue;
    result ??= new Map(before);
    result.set(register, union([own, writers]));
  }
  return result ?? before;
}

const PLAIN = {
  operators: [],
  places: [],
  scope: [],
  instruction: undefined,
  types: [],
  isOnHost: false,
} as const;

/**
 * The scopes that the name of a node lies in, the outermost first: `/encoder/layer.0/Add` lies in `encoder` and
 * `layer.0`, `encoder.layer.0.add` in `encoder` and `layer.0`. None for a place in a text.
 */
export function scopeOf({ source, line }: SourcePlace): readonly string[] {
  if (line !== undefined) return [];
  const bySlash = source.split('/').filter((part) => part !== '');
  return (bySlash.length > 1 ? bySlash : byDot(source)).slice(0, -1);
}

/** Numbers belong to the part before them. */
function byDot(name: string): string[] {
  const parts: string[] = [];
  for (const part of name.split('.')) {
    const last = parts.length - 1;
    if (last >= 0 && /^\d+$/.test(part)) parts[last] += `.${part}`;
    else if (part !== '') parts.push(part);
  }
  return parts;
}

/** The scopes that all places lie in. */
export function commonScope(places: readonly SourcePlace[]): readonly string[] {
  const [first = [], ...others] = places.map(scopeOf);
  const end = first.findIndex((part, i) => others.some((other) => other[i] !== part));
  return end < 0 ? first : first.slice(0, end);
}

/** A place as a label: the last part of a node's name, or the line. */
export function shortPlace(place: SourcePlace): string {
  if (place.line !== undefined) return formatPlace(place);
  const depth = scopeOf(place).length;
  if (depth === 0) return place.source;
  const bySlash = place.source.split('/').filter((part) => part !== '');
  return (bySlash.length > 1 ? bySlash.at(-1) : byDot(place.source).at(-1)) ?? place.source;
}
