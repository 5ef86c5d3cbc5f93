import {
  one, f,
} from './one.js';
import { g } from './g.js';
const two = one;
