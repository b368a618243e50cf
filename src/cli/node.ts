/** Package entry `weft-vm/node`: what needs Node. */
export { folderStore } from './files/snapshot-folder.ts';
