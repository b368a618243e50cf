import { launchTime, type RatesOfBoth } from '../../../core/contracts/device-rates.ts';
import type { RepresentativeSizes } from '../../../core/dims/representative-sizes.ts';
import { WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { Expr } from '../../ir/expr.ts';
import { DEVICE_COPY, SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import type { Scopes } from '../../ir/walk/scopes.ts';
import { childrenOf } from '../../ir/walk/visit.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { type Dataflow, isView } from './dataflow.ts';
import type { Group, Groups } from './groups.ts';
import { byteLength, kernelWork } from './kernel-work.ts';
import { FlowNetwork } from './minimum-cut.ts';

/** Bytes that go from one device to the other in a millisecond; a guess. */
const COPIED_BYTES_PER_MS = 2e6;

interface DeviceNetworkContext {
  readonly scopes: Scopes;
  readonly dataflow: Dataflow;
  readonly groups: Groups;
  readonly sizes: RepresentativeSizes;
  readonly rates: RatesOfBoth;
}

/**
 * A function as a network of flow whose cuts are placements: its kernels on the side of the source run
 * on the session's device, those on the side of the sink beside it, and a cut costs what the kernels take
 * there and what is copied in between.
 */
export class DeviceNetwork {
  readonly #context: DeviceNetworkContext;
  readonly #network = new FlowNetwork();
  readonly #session = this.#network.addVertex();
  readonly #beside = this.#network.addVertex();
  readonly #vertices = new Map<Group, number>();
  /** Where tensors come to be; none for constants, which are stored where they are read. */
  readonly #homes = new Map<Expr, number | undefined>();
  /** The vertices that read each tensor. */
  readonly #readers = new Map<Expr, Set<number>>();

  constructor(context: DeviceNetworkContext) {
    this.#context = context;
    const { order } = context.scopes;
    const values = new Map<Expr, Expr>();
    for (const expr of order) if (expr.kind === 'let') values.set(expr.variable, expr.value);
    for (const expr of order) this.#homes.set(expr, this.#homeOf(expr, values));
    for (const expr of order) this.#addReads(expr);
    this.#addReader(context.scopes.top.root, this.#session);
    for (const [tensor, readers] of this.#readers) this.#addCopies(tensor, readers);
  }

  /** The kernels that run beside the session's device where all takes the least time. */
  groupsBeside(): ReadonlySet<Group> {
    const side = this.#network.cut(this.#session, this.#beside);
    const groups = [...this.#vertices].filter(([, vertex]) => side.has(vertex));
    return new Set(groups.map(([group]) => group));
  }

  #homeOf(expr: Expr, values: ReadonlyMap<Expr, Expr>): number | undefined {
    const group = this.#context.groups.of(expr);
    if (group !== undefined) return this.#vertexOf(group);
    if (expr.kind === 'constant') return undefined;
    if (expr.kind === 'let') return this.#homes.get(expr.body);
    const same = expr.kind === 'call' && isView(expr) ? expr.args[0] : values.get(expr);
    if (same !== undefined) return this.#homes.get(same) ?? this.#session;
    const isCopy = expr.kind === 'call' && operatorName(expr) === DEVICE_COPY;
    return isCopy && expr.attributes['device'] === 'host' ? this.#beside : this.#session;
  }

  /** The vertex of a kernel, with what it costs on either device. */
  #vertexOf(group: Group): number {
    const known = this.#vertices.get(group);
    if (known !== undefined) return known;
    const { dataflow, sizes, rates } = this.#context;
    const vertex = this.#network.addVertex();
    this.#vertices.set(group, vertex);
    const work = kernelWork(group, dataflow, sizes);
    const isOwn = [...group.members].some((member) => operatorName(member) === WGSL_KERNEL);
    const device = group.device ?? (isOwn ? 'session' : undefined);
    const onSession = device === 'host' ? Infinity : launchTime(work, rates.webgpu);
    const beside = device === 'session' ? Infinity : launchTime(work, rates.wasm);
    this.#network.addEdge(vertex, this.#beside, onSession);
    this.#network.addEdge(this.#session, vertex, beside);
    return vertex;
  }

  #addReads(expr: Expr): void {
    if (isAtom(expr) || expr.kind === 'let') return;
    const group = this.#context.groups.of(expr);
    const children = childrenOf(expr);
    if (expr.kind === 'call' && group !== undefined) {
      for (const arg of expr.args) {
        const isInside = arg.kind === 'call' && group.members.has(arg);
        if (!isInside) this.#addReader(arg, this.#vertexOf(group));
      }
      return;
    }
    if (expr.kind === 'call' && (isView(expr) || SCALAR_OPERATORS.has(operatorName(expr)))) return;
    for (const [index, child] of children.entries()) {
      if (expr.kind === 'if' && index === 0) this.#addWait(child);
      else this.#addReader(child, this.#session);
    }
  }

  #addReader(tensor: Expr, reader: number): void {
    const readers = this.#readers.get(tensor) ?? new Set<number>();
    this.#readers.set(tensor, readers.add(reader));
  }

  /** A condition that the machine reads, for which it waits where it lies on WebGPU. */
  #addWait(condition: Expr): void {
    const home = this.#homes.get(condition);
    if (home === undefined || home === this.#session) return;
    this.#network.addEdge(home, this.#beside, this.#context.rates.webgpu.roundTripMs);
  }

  /** A tensor goes to the other device once, however many kernels read it there. */
  #addCopies(tensor: Expr, readers: ReadonlySet<number>): void {
    const home = this.#homes.get(tensor);
    const others = [...readers].filter((reader) => reader !== home);
    const { dataflow, sizes, rates } = this.#context;
    const type = dataflow.typeOf(tensor);
    if (home === undefined || others.length === 0 || type?.kind !== 'tensor') return;
    const copyMs = byteLength(type, sizes) / COPIED_BYTES_PER_MS;
    const { webgpu, wasm } = rates;
    const copied = this.#network.addVertex();
    this.#network.addEdge(home, copied, webgpu.roundTripMs + copyMs);
    const brought = this.#network.addVertex();
    this.#network.addEdge(brought, home, webgpu.launchMs + wasm.launchMs + copyMs);
    for (const reader of others) {
      this.#network.addEdge(copied, reader, Infinity);
      this.#network.addEdge(reader, brought, Infinity);
    }
  }
}
