/** The key of the metadata that holds the calls of JavaScript by nodes of a model, as JSON; see `node-calls.ts`. */
export const NODE_CALLS = 'node_functions';
