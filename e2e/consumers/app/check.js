import { Session, Tensor } from 'weft-vm';
import { checkWith } from './check-with.js';

export const check = (folder, options) => checkWith({ Session, Tensor }, folder, options);
