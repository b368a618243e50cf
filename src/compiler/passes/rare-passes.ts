// Passes that few programs need, in a file of their own.
export { dispatchByShape } from './dispatch-by-shape/dispatch-by-shape.ts';
export { expandCompositions } from './expand-compositions.ts';
export { rematerialize } from './rematerialize/rematerialize.ts';
