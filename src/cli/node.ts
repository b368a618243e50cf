/** Package entry `weft-vm/node`: what needs Node. */
export { folderStore } from './snapshot-folder.ts';
