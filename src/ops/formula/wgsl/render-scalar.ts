import type { FormulaCall } from '../expression.ts';
import type { ScalarFunction } from '../../define-op.ts';
import { typedFormula } from '../infer-types.ts';
import { renderWgsl, type RenderOptions } from './render-wgsl.ts';

/** The WGSL expression of a scalar function for a call. */
export function renderScalar(
  scalar: ScalarFunction,
  call: FormulaCall,
  options: RenderOptions,
): string {
  if (scalar.formula !== undefined) return renderWgsl(typedFormula(scalar.formula, call), options);
  const context = { ...call, width: options.width };
  for (const [name, text] of Object.entries(scalar.declarations?.(context) ?? {})) {
    options.declare(name, text);
  }
  return scalar.wgsl(options.operands, context);
}
