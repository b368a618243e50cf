import { type RatesOfBoth, launchTime } from '../../../core/contracts/device-rates.ts';
import { isKernelCall, reasonForHost } from '../../inference/host-reason.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import type { CallExpr, DeviceName, Expr, FunctionExpr } from '../../ir/expr.ts';
import { computeScopes, type Scopes } from '../../ir/walk/scopes.ts';
import { mapFunctions, withChildren, childrenOf } from '../../ir/walk/visit.ts';
import type { Pass } from '../pass.ts';
import { Dataflow, isView } from './dataflow.ts';
import { sizesOf, byteLength, kernelWork } from './kernel-work.ts';
import { partition } from './partition.ts';
import type { RepresentativeSizes } from '../../../core/dims/representative-sizes.ts';
import { WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';
import { DEVICE_COPY, SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import type { Group, Groups } from './groups.ts';
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
class DeviceNetwork {
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

interface AssignDevicesOptions {
  readonly rates: RatesOfBoth;
  /** Gets the calls that run beside the session's device because that is faster, with these words. */
  readonly reasons?: Pick<WeakMap<CallExpr, string>, 'set'> | undefined;
}

const FASTER = 'by an estimate the program takes less time so';

/**
 * Annotates calls with the device on which they run, so that a run takes the least time: kernels at the rates
 * of WebGPU or WebAssembly, and what is copied between the two. The kernels are those that `fuse` makes of
 * the function where all runs on one device. The placement is a minimum cut, and so the best one by these
 * estimates.
 *
 * Calls that WebGPU cannot run, and those that the program annotates, stay where they are. A function that
 * stays on the session's device is left alone, as is one whose calls are all annotated.
 */
export function assignDevices({ rates, reasons }: AssignDevicesOptions): Pass {
  return {
    name: 'assign-devices',
    run(module, { types }) {
      return mapFunctions(module, (fn) => assignFunction(fn, { rates, reasons, types }));
    },
  };
}

function assignFunction(
  fn: FunctionExpr,
  { rates, reasons, types }: AssignDevicesOptions & { readonly types: TypeInference },
): FunctionExpr {
  const bound = annotate(fn, (call) =>
    reasonForHost(call, types) === undefined ? call.onDevice : 'host',
  );
  const scopes = computeScopes(bound, { enter: (expr) => !isAtom(expr) });
  const dataflow = new Dataflow(scopes, types);
  const groups = partition(scopes, types, true);
  const network = new DeviceNetwork({ scopes, dataflow, groups, rates, sizes: sizesOf(bound) });
  const beside = network.groupsBeside();
  if ([...beside].every(({ device }) => device === 'host')) return fn;
  const isBeside = (call: CallExpr): boolean => {
    const group = groups.of(call);
    return group !== undefined && beside.has(group);
  };
  return annotate(
    bound,
    (call) => (isBeside(call) ? 'host' : 'session'),
    (placed, original) => {
      if (original.onDevice === undefined && placed.onDevice === 'host') {
        reasons?.set(placed, FASTER);
      }
    },
  );
}

/** The function with devices for calls that are kernels; itself where they have them already. */
function annotate(
  fn: FunctionExpr,
  deviceOf: (call: CallExpr) => DeviceName | undefined,
  onAnnotated: (placed: CallExpr, original: CallExpr) => void = () => undefined,
): FunctionExpr {
  const results = new Map<Expr, Expr>();
  const { order } = computeScopes(fn, { enter: (expr) => !isAtom(expr) });
  for (const expr of order) {
    const copy = withChildren(expr, (child) => results.get(child) ?? child);
    results.set(expr, copy);
    if (expr.kind !== 'call' || copy.kind !== 'call' || !isKernelCall(expr)) continue;
    const onDevice = deviceOf(expr);
    const placed = onDevice === expr.onDevice ? copy : { ...copy, onDevice };
    results.set(expr, placed);
    onAnnotated(placed, expr);
  }
  const body = results.get(fn.body) ?? fn.body;
  return body === fn.body ? fn : { ...fn, body };
}
