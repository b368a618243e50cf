import type { CallExpr, DeviceName, Expr } from './expr.ts';
import { DEVICE_COPY } from './operators/scalar-operators.ts';

/** Done by the machine as a view of the same storage, so it is no kernel. */
export const VIEW_OPERATOR = 'reshape';

/**
 * The expressions whose tensor lies on the host: results of kernels there and of copies to there,
 * views of them, and lets that bind them. `order` has children before parents.
 */
export function hostValues(
  order: readonly Expr[],
  deviceOf: (call: CallExpr) => DeviceName | undefined = deviceOfCall,
): ReadonlySet<Expr> {
  const values = new Map<Expr, Expr>();
  for (const expr of order) if (expr.kind === 'let') values.set(expr.variable, expr.value);
  const onHost = new Set<Expr>();
  const lies = (expr: Expr | undefined): boolean => expr !== undefined && onHost.has(expr);
  for (const expr of order) {
    const isOnHost =
      expr.kind === 'call'
        ? callGives(expr, deviceOf(expr), lies) === 'host'
        : lies(expr.kind === 'let' ? expr.body : values.get(expr));
    if (isOnHost) onHost.add(expr);
  }
  return onHost;
}

/** The device on which the result of a call lies. */
function callGives(
  { callee, args, attributes }: CallExpr,
  device: DeviceName | undefined,
  liesOnHost: (expr: Expr | undefined) => boolean,
): DeviceName | undefined {
  if (callee.kind === 'operator') {
    if (callee.name === DEVICE_COPY) return attributes['device'] === 'host' ? 'host' : 'session';
    if (callee.name === VIEW_OPERATOR && device === undefined) {
      return liesOnHost(args[0]) ? 'host' : 'session';
    }
  }
  return device;
}

/** The device that a call names; undefined where it names none. */
export function deviceOfCall({ callee, onDevice }: CallExpr): DeviceName | undefined {
  return callee.kind === 'function' ? callee.attributes.device : onDevice;
}
