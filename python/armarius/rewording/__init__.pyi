# Written by scripts/write_reference.py from the table in __init__.py.
from armarius.rewording.reworder import ChatModel as ChatModel
from armarius.rewording.reworder import Message as Message
from armarius.rewording.reworder import Model as Model
from armarius.rewording.reworder import Reworded as Reworded
from armarius.rewording.reworder import Reworder as Reworder
from armarius.rewording.reworder import RewordingRequest as RewordingRequest
from armarius.rewording.reworder import parse as parse
from armarius.rewording.reworder import request as request
