/** The names of the passes of `compile`, in the order in which it begins with them. */
export const PASS_NAMES = [
  'bind-dims',
  'infer-types',
  'expand-compositions',
  'expand-training',
  'inline',
  'name-unknown-dims',
  'gradient',
  'to-graph',
  'choose-layouts',
  'fold-constants',
  'simplify',
  'recognize-operators',
  'widen-float16',
  'fold-affine-into-weights',
  'dispatch-by-shape',
  'eliminate-common-subexpressions',
  'assign-devices',
  'place-devices',
  'fuse',
  'to-anf',
  'lower-match',
  'allocate-adt-tags',
  'tail-calls',
  'lambda-lift',
  'split-tuples',
  'rematerialize',
  'plan-memory',
  'lower-shapes',
  'liveness',
] as const;

/** The name of a pass of `compile`. */
export type PassName = (typeof PASS_NAMES)[number];

export function isPassName(name: string): name is PassName {
  return PASS_NAMES.some((known) => known === name);
}
