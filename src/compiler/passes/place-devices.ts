import { UnsupportedError } from '../../core/errors.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import { call } from '../ir/build.ts';
import {
  type CallExpr,
  type DeviceName,
  type Expr,
  formatSpan,
  type FunctionExpr,
  ON_DEVICE,
  type Span,
  spanOf,
} from '../ir/expr.ts';
import { operatorName } from '../ir/operators/operator-name.ts';
import { DEVICE_COPY, SCALAR_OPERATORS } from '../ir/operators/scalar-operators.ts';
import { computeScopes, holds, type Scope, type Scopes } from '../ir/walk/scopes.ts';
import { placeOfFunction } from '../ir/place.ts';
import { childrenOf, mapFunctions, withChildren } from '../ir/walk/visit.ts';
import { isKernelCall, reasonForHost } from '../inference/host-reason.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import { deviceOfCall, hostValues, VIEW_OPERATOR } from '../ir/host-values.ts';
import type { Pass } from './pass.ts';

/** A call that runs on the host. */
export interface Placement {
  /** Where it comes from: the name of a node of the model, or file, line and column. */
  readonly node: string;
  readonly operator: string;
  /** The cause, in words that follow "because". */
  readonly reason: string;
}

/** Why calls are annotated that no program annotated; see `assign-devices`. */
type AssignedReasons = Pick<WeakMap<CallExpr, string>, 'get'>;

/**
 * Sends what WebGPU cannot do to the host: such calls get `on_device="host"`, and `device_copy`
 * brings tensors there and back.
 *
 * Only results of operators lie on the host, under the names that lets give them, and views of
 * them. All else lies on the session's device: parameters, results of functions and of branches,
 * fields of tuples and of data types. A float64 tensor is bytes there, which no kernel reads. What
 * does not mind where a tensor lies takes it from anywhere: conditions, dimensions, copies. So does
 * a call on the host that reads a constant, which the executable then stores for the host.
 *
 * A tensor is copied once for all that reads it in a scope and in the scopes inside. No copy moves
 * into a branch or out of one.
 */
export function placeDevices(
  onPlacement?: (placement: Placement) => void,
  assigned?: AssignedReasons,
): Pass {
  return {
    name: 'place-devices',
    run(module, { types }) {
      return mapFunctions(module, (fn, name) => {
        const placer = new Placer(fn, types, assigned);
        for (const placement of placer.placements(name)) onPlacement?.(placement);
        return placer.place();
      });
    },
  };
}

class Placer {
  readonly #fn: FunctionExpr;
  readonly #scopes: Scopes;
  /** Calls of operators that run on the host, and why. */
  readonly #reasons = new Map<CallExpr, string>();
  readonly #onHost: ReadonlySet<Expr>;
  /** Of each tensor that is read where it does not lie, the outermost scopes that read it so. */
  readonly #readers = new Map<Expr, Scope[]>();
  readonly #copies = new Map<Expr, Map<Scope, CallExpr>>();
  readonly #results = new Map<Expr, Expr>();

  constructor(fn: FunctionExpr, types: TypeInference, assigned: AssignedReasons | undefined) {
    this.#fn = fn;
    this.#scopes = computeScopes(fn, { enter: (expr) => !isAtom(expr) });
    for (const expr of this.#scopes.order) {
      const reason = expr.kind === 'call' ? reasonOf(expr, types, assigned) : undefined;
      if (expr.kind === 'call' && reason !== undefined) this.#reasons.set(expr, reason);
    }
    this.#onHost = hostValues(this.#scopes.order, (expr) => this.#deviceOf(expr));
  }

  placements(functionName: string): Placement[] {
    return Array.from(this.#reasons, ([expr, reason]) => ({
      node:
        expr.span !== undefined && expr.span.line === undefined
          ? expr.span.source
          : formatSpan(expr.span, `@${functionName}`),
      operator: operatorName(expr),
      reason,
    }));
  }

  place(): FunctionExpr {
    const isAnnotated = (expr: Expr) => expr.kind === 'call' && expr.onDevice !== undefined;
    if (this.#onHost.size === 0 && !this.#scopes.order.some(isAnnotated)) return this.#fn;
    this.#collectReaders();
    for (const expr of this.#scopes.order) {
      const placed = withChildren(expr, (child) => this.#operand(expr, child));
      this.#results.set(expr, placed.kind === 'call' ? this.#annotated(expr, placed) : placed);
    }
    const { body: result, span } = this.#fn;
    const body = this.#moved(result, { scope: this.#scopes.top, span });
    return body === this.#fn.body ? this.#fn : { ...this.#fn, body };
  }

  #deviceOf(expr: CallExpr): DeviceName | undefined {
    return this.#reasons.has(expr) ? 'host' : deviceOfCall(expr);
  }

  /** The marks that tell the next pass what runs on the host; no others. */
  #annotated(original: Expr, { onDevice, ...placed }: CallExpr): CallExpr {
    const isOnHost = original.kind === 'call' && this.#reasons.has(original);
    if (!isOnHost && onDevice === undefined) return placed;
    return isOnHost ? { ...placed, onDevice: 'host' } : placed;
  }

  /** Returns true if a tensor is needed on another device than the one where it lies. */
  #isMoved(arg: Expr, wanted: DeviceName | undefined): boolean {
    if (wanted === undefined || (wanted === 'host' && arg.kind === 'constant')) return false;
    return this.#onHost.has(arg) !== (wanted === 'host');
  }

  #collectReaders(): void {
    const demands: { readonly arg: Expr; readonly scope: Scope }[] = [];
    const { order, top } = this.#scopes;
    if (this.#isMoved(this.#fn.body, 'session')) demands.push({ arg: this.#fn.body, scope: top });
    for (const expr of order) {
      for (const [index, arg] of this.#childrenOf(expr).entries()) {
        if (!this.#isMoved(arg, this.#wanted(expr, index))) continue;
        demands.push({ arg, scope: this.#scopeOfChild(expr, index) });
      }
    }
    for (const { arg, scope } of demands.sort((a, b) => a.scope.depth - b.scope.depth)) {
      const outer = this.#readers.get(arg) ?? [];
      if (outer.some((known) => holds(known, scope))) continue;
      this.#readers.set(arg, [...outer, scope]);
    }
  }

  #childrenOf(expr: Expr): readonly Expr[] {
    return isAtom(expr) ? [] : childrenOf(expr);
  }

  /** On which device an expression wants a child; undefined where it does not mind. */
  #wanted(expr: Expr, index: number): DeviceName | undefined {
    switch (expr.kind) {
      case 'let':
        return undefined;
      case 'if':
        return index === 0 ? undefined : 'session';
      case 'call':
        break;
      default:
        return 'session';
    }
    const device = this.#deviceOf(expr);
    if (expr.callee.kind !== 'operator') return device ?? 'session';
    if (expr.callee.name === VIEW_OPERATOR) return device;
    return SCALAR_OPERATORS.has(expr.callee.name) ? undefined : (device ?? 'session');
  }

  #scopeOfChild(expr: Expr, index: number): Scope {
    const opened = expr.kind === 'function' ? index : index - 1;
    const inside = expr.kind === 'call' ? undefined : this.#scopes.inside(expr)[opened];
    return inside ?? this.#scopes.of(expr);
  }

  #operand(expr: Expr, child: Expr): Expr {
    for (const [index, arg] of this.#childrenOf(expr).entries()) {
      if (arg === child && this.#isMoved(arg, this.#wanted(expr, index))) {
        return this.#moved(arg, { scope: this.#scopeOfChild(expr, index), span: spanOf(expr) });
      }
    }
    return this.#results.get(child) ?? child;
  }

  /** The copy of a tensor that a scope reads; the tensor itself where it needs none. */
  #moved(
    arg: Expr,
    { scope, span }: { readonly scope: Scope; readonly span: Span | undefined },
  ): Expr {
    const result = this.#results.get(arg) ?? arg;
    const owner = this.#readers.get(arg)?.find((outer) => holds(outer, scope));
    if (owner === undefined) return result;
    const copies = this.#copies.get(arg) ?? new Map<Scope, CallExpr>();
    this.#copies.set(arg, copies);
    const device = this.#onHost.has(arg) ? 'session' : 'host';
    const place = spanOf(arg) ?? span ?? placeOfFunction(this.#fn);
    const copy = copies.get(owner) ?? call(DEVICE_COPY, [result], { device }, place);
    copies.set(owner, copy);
    return copy;
  }
}

/** Why a call runs on the host; undefined for what is no kernel, or runs on the session's device. */
function reasonOf(
  expr: CallExpr,
  types: TypeInference,
  assigned: AssignedReasons | undefined,
): string | undefined {
  if (!isKernelCall(expr)) return undefined;
  const { onDevice, span } = expr;
  const reason = reasonForHost(expr, types);
  if (onDevice === 'session' && reason !== undefined) {
    const name = operatorName(expr);
    throw new UnsupportedError({
      where: formatSpan(span, name),
      got: `${name} with ${ON_DEVICE}="session"`,
      expected: `a call that WebGPU has kernels for; ${reason}`,
      remedy: 'Leave the annotation out, and it runs on the host.',
    });
  }
  if (reason !== undefined || onDevice !== 'host') return reason;
  return assigned?.get(expr) ?? `the program says ${ON_DEVICE}="host"`;
}
